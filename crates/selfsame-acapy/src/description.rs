//! The description of the API for programs, in the format of Swagger 2.0, as ACA-Py's generated clients read it.

use serde_json::{Map, Value, json};

use crate::operation::{AdminOperation, OperationAudience};

/// The description of these operations.
pub fn swagger(operations: &[AdminOperation], label: &str) -> Value {
    let mut paths: Map<String, Value> = Map::new();
    for operation in operations {
        let at = paths.entry(operation.path).or_insert_with(|| json!({}));
        if let Some(methods) = at.as_object_mut() {
            let method = operation.method.as_str().to_ascii_lowercase();
            methods.insert(method, described(operation));
        }
    }
    json!({
        "swagger": "2.0",
        "info": { "title": label, "version": env!("CARGO_PKG_VERSION") },
        "securityDefinitions": {
            "ApiKeyHeader": { "type": "apiKey", "in": "header", "name": "X-API-Key" },
            "AuthorizationHeader": { "type": "apiKey", "in": "header", "name": "Authorization" },
        },
        "paths": paths,
    })
}

/// The operations as a list for people.
pub fn listed(operations: &[AdminOperation], label: &str) -> String {
    let mut text = format!("{label}\n\nThe description for programs: /api/docs/swagger.json\n");
    let mut tag = "";
    for operation in operations {
        if operation.tag != tag {
            tag = operation.tag;
            text.push_str(&format!("\n{tag}\n"));
        }
        let (method, path, summary) = (&operation.method, operation.path, operation.summary);
        text.push_str(&format!("  {method:<6} {path}  {summary}\n"));
    }
    text
}

fn described(operation: &AdminOperation) -> Value {
    let mut described = json!({
        "tags": [operation.tag],
        "summary": operation.summary,
        "produces": ["application/json"],
        "parameters": parameters(operation),
        "responses": { "200": { "description": "" } },
    });
    if operation.audience != OperationAudience::Everybody {
        described["security"] = json!([{ "ApiKeyHeader": [] }, { "AuthorizationHeader": [] }]);
    }
    described
}

fn parameters(operation: &AdminOperation) -> Vec<Value> {
    let in_path =
        |name: &str| json!({ "in": "path", "name": name, "required": true, "type": "string" });
    let path = operation.path.split('/').filter_map(|part| {
        let name = part.strip_prefix('{')?.strip_suffix('}')?;
        Some(in_path(name))
    });
    let query = operation.query.iter().map(
        |asked| json!({ "in": "query", "name": asked.name, "required": false, "type": asked.kind }),
    );
    let body = operation.has_body.then(|| {
        json!({ "in": "body", "name": "body", "required": false, "schema": { "type": "object" } })
    });
    path.chain(query).chain(body).collect()
}
