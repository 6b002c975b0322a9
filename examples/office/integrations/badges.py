"""Prints a badge for each person. This program knows only its dry-run."""

from ask import ask, live

wanted = {p["name"]: p["title"] for p in ask("badges.graphql")["people"]}
printed = live("badges.json")

for name in sorted(wanted):
    if name not in printed:
        print(f"would print a badge for {name}, {wanted[name]}")
    elif wanted[name] != printed[name]:
        print(f"would print a new badge for {name}: {wanted[name]}, not {printed[name]}")
for name in sorted(printed):
    if name not in wanted:
        print(f"would withdraw the badge of {name}")
