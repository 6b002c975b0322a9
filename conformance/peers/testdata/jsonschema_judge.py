"""Says whether a value is valid by a schema, as python-jsonschema does."""
import jsonschema
import judge


def answer(of):
    try:
        jsonschema.Draft6Validator.check_schema(of["schema"])
        return {"answer": jsonschema.Draft6Validator(of["schema"]).is_valid(of["value"])}
    except jsonschema.SchemaError as why:
        raise judge.LeftOut("the schema is not valid: " + why.message)
    except (TypeError, OverflowError) as why:  # it crashes, such as for "items": true beside "additionalItems"
        raise judge.LeftOut(why)


judge.serve("jsonschema", answer)
