"""Asks a GraphQL server. The integrations that are written in Python share this module."""

import json
import os
import urllib.request


def ask(query_file):
    """Return the answer to the query in a file of the folder queries."""
    folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    with open(os.path.join(folder, "queries", query_file), encoding="utf-8") as file:
        query = file.read()
    request = urllib.request.Request(
        os.environ["GRAPHQL_SERVER"],
        json.dumps({"query": query}).encode(),
        {"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=30) as response:
        answer = json.load(response)
    if answer.get("errors"):
        raise SystemExit("the server refuses the query: " + answer["errors"][0]["message"])
    return answer["data"]


def live(name):
    """Return what a live system has: here a file of the folder live plays the system."""
    folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    with open(os.path.join(folder, "live", name), encoding="utf-8") as file:
        return json.load(file)
