"""Says which moments match a schedule, as croniter does."""
import re
from datetime import datetime, timezone

import croniter
import judge


def check_words(schedule):
    """Leaves out what this version reads by older rules: ?, ranges over the end, of one number, with names or no end."""
    if "?" in schedule:
        raise judge.LeftOut("a question mark")
    if re.search(r"(^|[ ,])\w+/", schedule):
        raise judge.LeftOut("a range without an end")
    for first, last in re.findall(r"(\w+)-(\w+)", schedule):
        if not (first.isdigit() and last.isdigit() and int(first) < int(last)):
            raise judge.LeftOut("a range over the end, of one number or with names")


def answer(of):
    check_words(of["schedule"])
    croniter.croniter(of["schedule"])  # also without moments
    moments = [datetime.fromtimestamp(at, timezone.utc) for at in of["moments"]]
    try:
        return {"answer": [croniter.croniter.match(of["schedule"], at, day_or=False) for at in moments]}
    except croniter.CroniterBadDateError as why:  # there is no such day in many years
        raise judge.LeftOut(why)


judge.serve("croniter", answer)
