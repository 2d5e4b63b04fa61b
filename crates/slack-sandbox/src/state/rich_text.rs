//! Escapes text as Slack does, and makes the `rich_text` block that Slack gives a message without blocks.

use serde_json::{Value, json};

/// Escapes `&`, `<` and `>` outside of Slack's own marks such as `<@U1>`, and makes links of addresses, as Slack stores text.
pub(crate) fn normalize(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if let Some(mark) = leading_mark(rest) {
            out.push_str(mark);
            rest = &rest[mark.len()..];
        } else if let Some(address) = leading_address(rest, &out) {
            out.push('<');
            out.push_str(&address.replace('&', "&amp;"));
            out.push('>');
            rest = &rest[address.len()..];
        } else {
            match first {
                '&' if ["&amp;", "&lt;", "&gt;"].iter().any(|escape| rest.starts_with(escape)) => out.push('&'),
                '&' => out.push_str("&amp;"),
                '<' => out.push_str("&lt;"),
                '>' => out.push_str("&gt;"),
                other => out.push(other),
            }
            rest = &rest[first.len_utf8()..];
        }
    }
    out
}

/// A mark such as `<@U1>`, `<#C1|general>`, `<!here>` or `<https://…|label>` at the beginning.
fn leading_mark(text: &str) -> Option<&str> {
    let inner = text.strip_prefix('<')?;
    let end = inner.find('>')?;
    let known = ["@", "#", "!", "http://", "https://", "mailto:"];
    let is_mark = known.iter().any(|start| inner.starts_with(start)) && !inner[..end].contains(['<', '\n']);
    is_mark.then(|| &text[..end + 2])
}

fn leading_address<'a>(text: &'a str, before: &str) -> Option<&'a str> {
    if !(text.starts_with("http://") || text.starts_with("https://")) || before.ends_with(|c: char| c.is_alphanumeric()) {
        return None;
    }
    let end = text.find(|c: char| c.is_whitespace() || ['<', '>', '|', '`', '"'].contains(&c)).unwrap_or(text.len());
    Some(text[..end].trim_end_matches(['.', ',', ')', ';', ':', '!', '?', '*', '_', '~']))
}

/// The block for a normalized text.
pub(crate) fn rich_text(text: &str, block_id: &str) -> Value {
    let mut elements = Vec::new();
    let mut plain = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if let Some(mark) = leading_mark(rest) {
            push_plain(&mut elements, &mut plain);
            elements.push(mark_element(&mark[1..mark.len() - 1]));
            rest = &rest[mark.len()..];
        } else {
            plain.push(first);
            rest = &rest[first.len_utf8()..];
        }
    }
    push_plain(&mut elements, &mut plain);
    json!({ "type": "rich_text", "block_id": block_id, "elements": [{ "type": "rich_text_section", "elements": elements }] })
}

fn push_plain(elements: &mut Vec<Value>, plain: &mut String) {
    if !plain.is_empty() {
        let text = unescape(plain);
        elements.push(json!({ "type": "text", "text": text }));
        plain.clear();
    }
}

fn unescape(text: &str) -> String {
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
}

fn mark_element(inner: &str) -> Value {
    let (target, label) = inner.split_once('|').map_or((inner, None), |(target, label)| (target, Some(label)));
    match target.chars().next() {
        Some('@') => json!({ "type": "user", "user_id": &target[1..] }),
        Some('#') => json!({ "type": "channel", "channel_id": &target[1..] }),
        Some('!') => json!({ "type": "broadcast", "range": &target[1..] }),
        _ => match label {
            Some(label) => json!({ "type": "link", "url": unescape(target), "text": unescape(label) }),
            None => json!({ "type": "link", "url": unescape(target) }),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_stored_as_slack_stores_it() {
        for (sent, stored) in [
            ("a & b < c > d", "a &amp; b &lt; c &gt; d"),
            ("already &amp; escaped", "already &amp; escaped"),
            ("<@U1> and <#C1|general> <!here>", "<@U1> and <#C1|general> <!here>"),
            ("see https://example.com/x?a=1&b=2.", "see <https://example.com/x?a=1&amp;b=2>."),
            ("<https://example.com|label>", "<https://example.com|label>"),
            ("<b>", "&lt;b&gt;"),
            ("> quoted", "&gt; quoted"),
        ] {
            assert_eq!(normalize(sent), stored, "{sent}");
            assert_eq!(normalize(stored), stored, "{stored} stays");
        }
    }

    #[test]
    fn the_block_has_an_element_for_each_mark() {
        let block = rich_text("hi <@U1> &amp; <https://example.com|you>", "b1");
        let expected = json!([
            { "type": "text", "text": "hi " }, { "type": "user", "user_id": "U1" }, { "type": "text", "text": " & " },
            { "type": "link", "url": "https://example.com", "text": "you" },
        ]);
        assert_eq!(block["elements"][0]["elements"], expected);
    }
}
