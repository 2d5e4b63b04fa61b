use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Value, json};

use crate::tools::approval::Risk;
use crate::tools::web::fetch::fetch;
use crate::tools::web::page::read_as_it_is;
use crate::tools::web::ssrf_guard::{Reach, SsrfGuard};
use crate::tools::web::{parse_url, read_from, reading, trace};
use crate::tools::{Tool, ToolContext, ToolError, ToolOutput, Trace};

/// Fetches from hosts listed by the operator, also inside the network.
pub(super) struct HttpGet {
    pub ssrf_guard: Arc<SsrfGuard>,
}

#[async_trait]
impl Tool for HttpGet {
    fn name(&self) -> &'static str {
        "http_get"
    }

    fn description(&self) -> String {
        let hosts = self.ssrf_guard.hosts.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        format!("Reads JSON or text as it is from one of these hosts: {hosts}.")
    }

    fn asked_by(&self) -> &'static str {
        "json api endpoint url https http status Schnittstelle"
    }

    fn parameters(&self) -> Value {
        json!({
            "type": "object",
            "properties": {"url": {"type": "string", "minLength": 1, "maxLength": 2000, "description": "The whole address."}},
            "required": ["url"],
            "additionalProperties": false,
        })
    }

    /// The operator chose these hosts, so a request leaks nothing. Other hosts are refused without asking.
    fn risk(&self, _: &Value, _: &ToolContext<'_>) -> Risk {
        Risk::Read
    }

    fn describe_doing(&self, arguments: &Value) -> Option<String> {
        reading(arguments)
    }

    fn describe_done(&self, trace: &Trace) -> Option<String> {
        read_from(trace)
    }

    async fn call(&self, arguments: &Value, context: &ToolContext<'_>) -> Result<ToolOutput, ToolError> {
        let url = parse_url(arguments)?;
        let fetched = fetch(&self.ssrf_guard, &url, Reach::Listed, "application/json, text/*;q=0.9, */*;q=0.1").await?;
        let text = read_as_it_is(&fetched)?;
        let trace = trace(&url, &fetched, Vec::new(), context.now);
        Ok(ToolOutput { text, outside: true, trace: Some(trace) })
    }
}
