"""What all judges in Python have in common: lines of inputs become lines of answers."""
import json
import sys
from importlib import metadata


class LeftOut(Exception):
    """An input that cannot be judged."""


def serve(package, answer):
    """Says which package answers, and answers each input. An exception is a refusal."""
    print(json.dumps({"peer": package + " " + metadata.version(package)}), flush=True)
    for line in sys.stdin:
        of = json.loads(line)
        said = {"id": of["id"]}
        try:
            said.update(answer(of["input"]))
        except LeftOut as why:
            said["left_out"] = str(why)
        except Exception as mistake:
            said["error"] = (type(mistake).__name__ + ": " + str(mistake))[:300]
        print(json.dumps(said), flush=True)
