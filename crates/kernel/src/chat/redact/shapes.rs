//! The formats of tokens, as their providers document them. A new provider is one line here and one in the test.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

/// A token format.
struct Shape {
    /// A substring of every match. Checking it first avoids most regex searches.
    hint: &'static str,
    /// Group 1 is the secret. Compiled at the first text with the hint. Only ASCII classes: the Unicode tables would double the size of the crate.
    pattern: LazyLock<Regex, Box<dyn FnOnce() -> Regex + Send>>,
}

impl Shape {
    fn new(hint: &'static str, pattern: String) -> Self {
        Self { hint, pattern: LazyLock::new(Box::new(move || Regex::new(&pattern).expect("the pattern is tested"))) }
    }
}

/// Tokens that begin with a prefix of their provider, with the shortest length of what follows. It consists of letters, digits, `_` and `-`.
const PREFIXES: &[(&str, usize)] = &[
    // Language models.
    ("sk-", 20),  // OpenAI, Anthropic, OpenRouter, DeepSeek
    ("gsk_", 40), // Groq
    ("xai-", 40),
    ("pplx-", 40), // Perplexity
    ("hf_", 30),   // Hugging Face
    ("r8_", 35),   // Replicate
    ("AIza", 35),  // Google
    // Search.
    ("tvly-", 20), // Tavily
    ("BSA", 27),   // Brave
    // Source code and packages.
    ("ghp_", 36),
    ("gho_", 36),
    ("ghu_", 36),
    ("ghs_", 36),
    ("ghr_", 36),
    ("github_pat_", 22),
    ("glpat-", 20), // GitLab: people, deployment, runners, pipelines, clusters
    ("gldt-", 20),
    ("glrt-", 20),
    ("glptt-", 40),
    ("glagent-", 50),
    ("npm_", 36),
    ("pypi-AgE", 50),
    ("dckr_pat_", 27), // Docker Hub
    ("rubygems_", 48),
    ("figd_", 38),    // Figma
    ("lin_api_", 40), // Linear
    ("ntn_", 40),     // Notion
    ("ATATT3", 50),   // Atlassian
    // Chat.
    ("xapp-", 10), // Slack
    // Money and shops.
    ("sk_live_", 20), // Stripe
    ("sk_test_", 20),
    ("rk_live_", 20),
    ("rk_test_", 20),
    ("whsec_", 24),
    ("shpat_", 32), // Shopify
    ("shpss_", 32),
    ("sq0csp-", 40), // Square
    // Machines and services.
    ("dop_v1_", 60), // DigitalOcean
    ("HRKU-", 30),   // Heroku
    ("sbp_", 40),    // Supabase
    ("hvs.", 24),    // Vault
    ("glsa_", 40),   // Grafana
    ("glc_", 32),
    ("NRAK-", 27),   // New Relic
    ("sntryu_", 60), // Sentry
    ("sntrys_", 60),
    ("GOCSPX-", 28), // Google's OAuth clients
    ("ya29.", 40),
    ("AGE-SECRET-KEY-1", 58),
];

/// Other formats. Group 1 is the secret.
const PATTERNS: &[(&str, &str)] = &[
    // Discord bot tokens: the account's id in base64 (beginning with M, N or O, because an id begins with a digit), a time, a signature.
    (".", r"(?-u:\b)([MNO][A-Za-z0-9_-]{22,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,45})"),
    ("/webhooks/", r"/webhooks/[0-9]{15,21}/([A-Za-z0-9_-]{40,})"),
    // Slack.
    ("xox", r"(?-u:\b)(xox[abceoprs]-[A-Za-z0-9-]{10,})"),
    ("hooks.slack.com/", r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9/_-]{20,})"),
    // Telegram: the bot's number and its key.
    (":AA", r"(?-u:\b)([0-9]{8,10}:AA[A-Za-z0-9_-]{33})"),
    // Amazon.
    ("IA", r"(?-u:\b)(A[KS]IA[A-Z0-9]{16})(?-u:\b)"),
    // Microsoft Azure's storage.
    ("AccountKey=", r"AccountKey=([A-Za-z0-9+/]{80,}=*)"),
    // SendGrid, Twilio, Mailgun.
    ("SG.", r"(?-u:\b)(SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{32,})"),
    ("SK", r"(?-u:\b)(SK[0-9a-f]{32})(?-u:\b)"),
    ("key-", r"(?-u:\b)(key-[0-9a-f]{32})(?-u:\b)"),
    // Databricks, Airtable.
    ("dapi", r"(?-u:\b)(dapi[0-9a-f]{32})(?-u:\b)"),
    ("pat", r"(?-u:\b)(pat[A-Za-z0-9]{14}\.[0-9a-f]{64})(?-u:\b)"),
    ("eyJ", r"(?-u:\b)(eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,})"),
    ("Bearer ", r"Bearer ([A-Za-z0-9._~+/-]{20,}=*)"),
    // A password in a URL, as in postgres://user:pass@host.
    ("://", r"://[^ \t\r\n:/@]*:([^ \t\r\n@/]+)@"),
    // Without an end marker, the key lasts to the end of the text.
    ("PRIVATE KEY-----", r"(?s)(-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\z))"),
];

static SHAPES: LazyLock<Vec<Shape>> = LazyLock::new(|| {
    let with_prefix = |(prefix, length): &(&'static str, usize)| {
        Shape::new(prefix, format!(r"(?-u:\b)({}[A-Za-z0-9_-]{{{length},}})", regex::escape(prefix)))
    };
    let others = PATTERNS.iter().map(|(hint, pattern)| Shape::new(hint, (*pattern).to_owned()));
    PREFIXES.iter().map(with_prefix).chain(others).collect()
});

/// Where tokens stand in a text.
pub(super) fn find(text: &str) -> impl Iterator<Item = Range<usize>> {
    let shapes = SHAPES.iter().filter(|shape| text.contains(shape.hint));
    shapes.flat_map(|shape| shape.pattern.captures_iter(text).filter_map(|captures| captures.get(1)).map(|secret| secret.range()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::redact::{REDACTED, Redactor};

    fn redact(text: &str) -> (String, usize) {
        let (redacted, count) = Redactor::new(&[]).redact(text);
        (redacted.into_owned(), count)
    }

    #[test]
    fn tokens_are_found_by_their_shape() {
        let letters = "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1eF3hJ5kL7n";
        for (text, expected) in [
            (format!("MTIzNDU2Nzg5MDEyMzQ1Njc4.GaBcDe.{}", &letters[..38]), "[redacted]".to_owned()),
            (
                format!("https://discord.com/api/webhooks/123456789012345678/{letters}{letters}"),
                "https://discord.com/api/webhooks/123456789012345678/[redacted]".to_owned(),
            ),
            ("xoxb-123456789012-abcdefABCDEF".into(), "[redacted]".into()),
            ("xapp-1-A0123-456-abcdef".into(), "[redacted]".into()),
            (format!("key=sk-ant-api03-{letters}."), "key=[redacted].".into()),
            (format!("AIza{}", &letters[..35]), "[redacted]".into()),
            ("id AKIAIOSFODNN7EXAMPLE!".into(), "id [redacted]!".into()),
            (format!("ghp_{}", &letters[..36]), "[redacted]".into()),
            (format!("github_pat_{letters}"), "[redacted]".into()),
            (format!("glpat-{}", &letters[..20]), "[redacted]".into()),
            ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N".into(), "[redacted]".into()),
            (format!("Authorization: Bearer {letters}=="), "Authorization: Bearer [redacted]".into()),
            ("postgres://team:hunter2@db/x".into(), "postgres://team:[redacted]@db/x".into()),
            ("-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nend".into(), "[redacted]\nend".into()),
            ("-----BEGIN PRIVATE KEY-----\nMIIE and then it is cut".into(), "[redacted]".into()),
            (format!("sk-\u{200B}proj-{letters}"), "[redacted]".into()),
        ] {
            assert_eq!(redact(&text), (expected, 1), "{text}");
        }
    }

    #[test]
    fn every_prefix_hides_its_token_in_a_sentence() {
        let letters = "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1eF3hJ5kL7n".repeat(2);
        for (prefix, length) in PREFIXES {
            let token = format!("{prefix}{}", &letters[..*length]);
            assert_eq!(redact(&format!("it is {token}, keep it")), (format!("it is {REDACTED}, keep it"), 1), "{token}");
        }
    }

    #[test]
    fn other_services_are_known_by_their_pattern() {
        let hex = "0123456789abcdef0123456789abcdef";
        let letters = "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1eF3hJ5kL7n";
        for (text, expected) in [
            (
                format!("https://hooks.slack.com/services/T01234567/B01234567/{}", &letters[..24]),
                "https://hooks.slack.com/services/[redacted]",
            ),
            (format!("123456789:AA{}", &letters[..33]), "[redacted]"),
            (format!("AccountKey={}{}{}==", letters, letters, &letters[..6]), "AccountKey=[redacted]"),
            (format!("SG.{}.{}", &letters[..22], &letters[..40]), "[redacted]"),
            (format!("SK{hex}"), "[redacted]"),
            (format!("dapi{hex}"), "[redacted]"),
            (format!("key-{hex}"), "[redacted]"),
            (format!("pat{}.{hex}{hex}", &letters[..14]), "[redacted]"),
        ] {
            assert_eq!(redact(&text), (expected.to_owned(), 1), "{text}");
        }
    }
}
