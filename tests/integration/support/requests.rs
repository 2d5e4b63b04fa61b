//! Checks the team's requests against Discord's API description.

use jsonschema::Registry;
use sandbox::Exchange;
use serde_json::{Value, json};

use super::descriptions::{explain, find_operation, read};

/// Checks all request bodies. Returns their number, or `None` without Discord's description.
pub(crate) fn check_requests(journal: &[Exchange]) -> Option<usize> {
    let api = read("openapi.json")?;
    let registry = Registry::new().add("https://discord/api.json", &api).expect("a resource").prepare().expect("references");
    let mut checked = 0;
    for exchange in journal {
        let Exchange::Rest(exchange) = exchange else { continue };
        let takes_body = |operation: &Value| operation["requestBody"]["content"]["application/json"].is_object();
        let Some((path, _)) = find_operation(&api, exchange).filter(|(_, operation)| takes_body(operation)) else { continue };
        let method = exchange.method.to_lowercase();
        let escaped = path.replace('/', "~1").replace('{', "%7B").replace('}', "%7D");
        let reference = format!("https://discord/api.json#/paths/{escaped}/{method}/requestBody/content/application~1json/schema");
        let schema = json!({ "$ref": reference });
        let validator = jsonschema::options().with_registry(&registry).build(&schema).expect("the schema compiles");
        // "All parameters to this endpoint are optional", says the reference, and clients leave the name out.
        let is_known = |complaint: &String| path == "/users/@me" && complaint.contains("\"username\" is a required property");
        let complaints = validator.iter_errors(&exchange.request).map(|error| explain(&error));
        let complaints: Vec<String> = complaints.filter(|complaint| !is_known(complaint)).collect();
        assert!(complaints.is_empty(), "{method} {path}: {complaints:?}\n    in {}", exchange.request);
        checked += 1;
    }
    Some(checked)
}
