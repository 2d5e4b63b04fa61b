//! Checks blocks. Each complaint has the place of its fault.

use std::collections::HashSet;

use serde_json::Value;

const SECTION_TEXT: usize = 3_000;
const MARKDOWN_TEXT: usize = 12_000;

#[derive(Default)]
pub(super) struct Checker {
    pub(super) complaints: Vec<String>,
    block_ids: HashSet<String>,
}

impl Checker {
    pub(super) fn complain(&mut self, what: &str, at: &str) {
        self.complaints.push(format!("{what} [json-pointer:{at}]"));
    }

    pub(super) fn block(&mut self, block: &Value, at: &str) {
        if let Some(id) = block["block_id"].as_str() {
            self.length(id, 255, &format!("{at}/block_id"));
            if !self.block_ids.insert(id.to_owned()) {
                self.complain(&format!("`block_id` {id} already exists"), &format!("{at}/block_id"));
            }
        }
        match block["type"].as_str() {
            None => self.complain("missing required field: type", at),
            Some("section") => self.section(block, at),
            Some("header") => self.text(&block["text"], 150, true, &format!("{at}/text")),
            Some("actions") => self.elements(block, 25, at),
            Some("context") => self.context(block, at),
            Some("markdown") => self.required_text(&block["text"], MARKDOWN_TEXT, &format!("{at}/text")),
            Some("input") => {
                self.text(&block["label"], 2_000, true, &format!("{at}/label"));
                self.element(&block["element"], &format!("{at}/element"));
            }
            Some("image") => {
                self.required_text(&block["alt_text"], 2_000, &format!("{at}/alt_text"));
                if block["slack_file"].is_null() {
                    self.required_text(&block["image_url"], 3_000, &format!("{at}/image_url"));
                }
            }
            Some("rich_text") if block["elements"].is_array() => {}
            Some("rich_text") => self.complain("missing required field: elements", at),
            Some("divider" | "file" | "video" | "table" | "context_actions" | "plan" | "task_card") => {}
            Some(other) => self.complain(&format!("unsupported type: {other}"), &format!("{at}/type")),
        }
    }

    fn section(&mut self, block: &Value, at: &str) {
        let fields = block["fields"].as_array();
        match (block["text"].is_null(), fields) {
            (true, None) => self.complain("missing required field: text", at),
            (true, _) => {}
            (false, _) => self.text(&block["text"], SECTION_TEXT, false, &format!("{at}/text")),
        }
        for (index, field) in fields.into_iter().flatten().enumerate() {
            self.text(field, 2_000, false, &format!("{at}/fields/{index}"));
        }
        if fields.is_some_and(|fields| fields.len() > 10) {
            self.complain("no more than 10 items allowed", &format!("{at}/fields"));
        }
        if !block["accessory"].is_null() {
            self.element(&block["accessory"], &format!("{at}/accessory"));
        }
    }

    fn elements(&mut self, block: &Value, limit: usize, at: &str) {
        let elements = block["elements"].as_array().map(Vec::as_slice).unwrap_or_default();
        if elements.is_empty() {
            self.complain("must have at least 1 items", &format!("{at}/elements"));
        }
        if elements.len() > limit {
            self.complain(&format!("no more than {limit} items allowed"), &format!("{at}/elements"));
        }
        let mut ids = HashSet::new();
        for (index, element) in elements.iter().enumerate() {
            self.element(element, &format!("{at}/elements/{index}"));
            if let Some(id) = element["action_id"].as_str()
                && !ids.insert(id)
            {
                self.complain(&format!("`action_id` {id} already exists"), &format!("{at}/elements/{index}/action_id"));
            }
        }
    }

    fn context(&mut self, block: &Value, at: &str) {
        let elements = block["elements"].as_array().map(Vec::as_slice).unwrap_or_default();
        if elements.is_empty() || elements.len() > 10 {
            self.complain("must have between 1 and 10 items", &format!("{at}/elements"));
        }
        for (index, element) in elements.iter().enumerate().filter(|(_, element)| element["type"] != "image") {
            self.text(element, SECTION_TEXT, false, &format!("{at}/elements/{index}"));
        }
    }

    fn element(&mut self, element: &Value, at: &str) {
        if let Some(id) = element["action_id"].as_str() {
            self.length(id, 255, &format!("{at}/action_id"));
        }
        match element["type"].as_str() {
            Some("button") => {
                self.text(&element["text"], 75, true, &format!("{at}/text"));
                self.length(element["value"].as_str().unwrap_or_default(), 2_000, &format!("{at}/value"));
                self.length(element["url"].as_str().unwrap_or_default(), 3_000, &format!("{at}/url"));
            }
            Some("static_select" | "multi_static_select" | "radio_buttons" | "checkboxes" | "overflow") => self.options(element, at),
            Some(
                "users_select"
                | "multi_users_select"
                | "conversations_select"
                | "multi_conversations_select"
                | "channels_select"
                | "multi_channels_select"
                | "external_select"
                | "multi_external_select"
                | "datepicker"
                | "timepicker"
                | "datetimepicker"
                | "image"
                | "plain_text_input"
                | "email_text_input"
                | "url_text_input"
                | "number_input"
                | "rich_text_input"
                | "file_input"
                | "workflow_button"
                | "feedback_buttons"
                | "icon_button",
            ) => {}
            Some(other) => self.complain(&format!("unsupported type: {other}"), &format!("{at}/type")),
            None => self.complain("missing required field: type", at),
        }
    }

    fn options(&mut self, element: &Value, at: &str) {
        let limit = match element["type"].as_str() {
            Some("overflow") => 5,
            Some("radio_buttons" | "checkboxes") => 10,
            _ => 100,
        };
        let options = element["options"].as_array().map(Vec::as_slice).unwrap_or_default();
        if options.is_empty() && element["option_groups"].is_null() {
            self.complain("must provide options or option_groups", at);
        }
        if options.len() > limit {
            self.complain(&format!("no more than {limit} items allowed"), &format!("{at}/options"));
        }
        for (index, option) in options.iter().enumerate() {
            self.text(&option["text"], 75, false, &format!("{at}/options/{index}/text"));
            self.required_text(&option["value"], 150, &format!("{at}/options/{index}/value"));
        }
    }

    /// A text object: `plain_text` or `mrkdwn`.
    fn text(&mut self, text: &Value, limit: usize, only_plain: bool, at: &str) {
        match text["type"].as_str() {
            Some("plain_text") => {}
            Some("mrkdwn") if !only_plain => {}
            Some(other) => return self.complain(&format!("unsupported type: {other}"), &format!("{at}/type")),
            None => return self.complain("missing required field: type", at),
        }
        self.required_text(&text["text"], limit, &format!("{at}/text"));
    }

    fn required_text(&mut self, text: &Value, limit: usize, at: &str) {
        match text.as_str() {
            None => self.complain("missing required field", at),
            Some("") => self.complain("must be more than 0 characters", at),
            Some(text) => self.length(text, limit, at),
        }
    }

    fn length(&mut self, text: &str, limit: usize, at: &str) {
        if text.chars().count() > limit {
            self.complain(&format!("must be less than {} characters", limit + 1), at);
        }
    }
}
