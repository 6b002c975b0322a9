"""Says which values of a document a path chooses, as jsonpath_ng.ext does."""
import copy
import signal

import judge
from jsonpath_ng.ext.parser import ExtendedJsonPathParser

# One parser for all paths: making its tables takes a tenth of a second.
parser = ExtendedJsonPathParser()


def late(*_):
    raise judge.LeftOut("it takes too long")


def answer(of):
    signal.setitimer(signal.ITIMER_REAL, 2)
    try:
        document = copy.deepcopy(of["document"])
        values = [found.value for found in parser.parse(of["path"]).find(document)]
        if document != of["document"]:
            raise ValueError("the search changes the document")
        return {"answer": copy.deepcopy(values)}
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


signal.signal(signal.SIGALRM, late)
judge.serve("jsonpath-ng", answer)
