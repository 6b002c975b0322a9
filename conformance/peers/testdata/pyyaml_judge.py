"""Reads a document as PyYAML does, with libyaml, for a value of strict JSON."""
import json

import judge
import yaml


def answer(text):
    value = yaml.load(text, Loader=yaml.CSafeLoader)
    written = json.dumps(value, allow_nan=False)
    return {"answer": None, "text": written}


judge.serve("PyYAML", answer)
