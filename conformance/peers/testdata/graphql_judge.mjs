// Says what graphql-js answers to a document, over the types of an introspection and a bundle with plain data:
// no back references, resources, arguments or broken references, whose rules are not those of graphql-js.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";

const require = createRequire(process.env.JUDGES + "/judge.js");
const graphql = require("graphql");

const [introspection, bundle] = process.argv.slice(2).map((file) => JSON.parse(readFileSync(file, "utf8")));
const schema = graphql.buildClientSchema(introspection.data);
schema.getType("JSON").serialize = (of) => JSON.stringify(of); // a text, for all clients
const confs = new Map(bundle.graphql.confs.map((conf) => [conf.name, conf]));
const field = (type, name) => confs.get(type)?.fields.find((of) => of.name === name);
const files = new Map(
  Object.entries(bundle.data).map(([path, data]) => [path, { ...data, path, schema: data.$schema }]),
);

let why; // the input cannot be judged

function value(of) {
  if (Array.isArray(of)) return of.map(value);
  return of && typeof of === "object" && typeof of.$ref === "string" ? files.get(of.$ref) : of;
}

function resolve(source, args, _context, info) {
  const conf = field(info.parentType.name, info.fieldName);
  if (Object.keys(args).length > 0) why = "arguments";
  if (conf.synthetic || conf.isResource || (conf.datafileSchema && !conf.isList)) why = info.fieldName;
  if (why) return null;
  if (conf.datafileSchema) return [...files.values()].filter((file) => file.$schema === conf.datafileSchema);
  return conf.type === "json" ? source[info.fieldName] : value(source[info.fieldName]);
}

function typeOf(source, _context, _info, type) {
  const { strategy, field: key, fieldMap } = confs.get(type.name).interfaceResolve;
  if (strategy === "fieldMap") return fieldMap[source[key]];
  const named = [...confs.values()].find((conf) => conf.datafile === source.$schema);
  return named.isInterface ? named.interfaceResolve.fieldMap[source[named.interfaceResolve.field]] : named.name;
}

// hasEmpty tells whether a list has an object without keys, which the server leaves out.
function hasEmpty(of) {
  if (of === null || typeof of !== "object") return false;
  if (Array.isArray(of) && of.some((item) => item && Object.keys(item).length === 0)) return true;
  return Object.values(of).some(hasEmpty);
}

function answer({ query, variables, operationName }) {
  let document;
  try {
    document = graphql.parse(query);
  } catch (error) {
    return { errors: [error] };
  }
  const errors = graphql.validate(schema, document);
  if (errors.length > 0) return { errors };
  return graphql.execute({
    schema,
    document,
    operationName,
    variableValues: variables,
    fieldResolver: resolve,
    typeResolver: typeOf,
  });
}

console.log(JSON.stringify({ peer: "graphql " + graphql.version }));
for await (const line of createInterface({ input: process.stdin })) {
  const { id, input } = JSON.parse(line);
  why = input.query ? undefined : "an empty text is refused before it is read";
  const { errors = [], data } = answer(input);
  if (hasEmpty(data)) why = "an object without keys";
  const told = errors.map(({ message, locations, path }) => ({ message, locations, path }));
  const said = why ? { left_out: why } : { answer: { errors: told, data: JSON.stringify(data) ?? "" } };
  console.log(JSON.stringify({ id, ...said }));
}
