package cloudtest

// Specification is a specification in the style of ARM: stores of a cache, which have rules.
const Specification = `{
  "swagger": "2.0",
  "info": {"title": "Acme.Cache", "version": "2020-01-01"},
  "host": "arm.example", "schemes": ["https"], "consumes": ["application/json"], "produces": ["application/json"],
  "paths": {
    "/subscriptions/{subscriptionId}/resourceGroups/{resourceGroupName}/providers/Acme.Cache/stores/{name}": {
      "get": {"responses": {"200": {"description": "", "schema": {"$ref": "#/definitions/Store"}}}},
      "put": {"parameters": [{"name": "parameters", "in": "body", "required": true, "schema": {"$ref": "#/definitions/Store"}}],
        "responses": {"200": {"description": "", "schema": {"$ref": "#/definitions/Store"}}, "201": {"description": "", "schema": {"$ref": "#/definitions/Store"}}}},
      "delete": {"responses": {"200": {"description": ""}, "204": {"description": ""}}}
    },
    "/subscriptions/{subscriptionId}/resourceGroups/{resourceGroupName}/providers/Acme.Cache/stores/{storeName}/rules/{ruleName}": {
      "get": {"responses": {"200": {"description": "", "schema": {"$ref": "common.json#/definitions/Rule"}}}},
      "put": {"parameters": [{"name": "parameters", "in": "body", "required": true, "schema": {"$ref": "common.json#/definitions/Rule"}}],
        "responses": {"200": {"description": "", "schema": {"$ref": "common.json#/definitions/Rule"}}}},
      "delete": {"responses": {"200": {"description": ""}, "204": {"description": ""}}}
    }
  },
  "definitions": {
    "Store": {
      "properties": {
        "id": {"type": "string", "readOnly": true}, "name": {"type": "string", "readOnly": true}, "type": {"type": "string", "readOnly": true},
        "location": {"type": "string", "x-ms-mutability": ["create", "read"]},
        "tags": {"type": "object", "additionalProperties": {"type": "string"}},
        "properties": {"properties": {
          "size": {"type": "integer"}, "peer": {"type": "string"},
          "password": {"type": "string", "x-ms-secret": true, "x-ms-mutability": ["create", "update"]},
          "provisioningState": {"type": "string", "readOnly": true}
        }}
      },
      "required": ["location"]
    }
  }
}`

// Common is the document to which [Specification] refers.
const Common = `{"definitions": {"Rule": {"properties": {
  "id": {"type": "string", "readOnly": true},
  "properties": {"properties": {"start": {"type": "string"}, "end": {"type": "string"}}}}}}}`
