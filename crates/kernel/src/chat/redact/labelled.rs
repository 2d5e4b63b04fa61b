//! Values that a label names as secret: `password: hunter2`, `aws_secret_access_key = …`, `Authorization: Basic …`.
//!
//! A label finds a candidate, and the form of the value decides: "the password: ask Ann", `password = read_password()` and `password: Vec<u8>` stay
//! as they are.

use std::ops::Range;
use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use regex::{Captures, Regex};

/// Shorter values are not looked at.
const SHORTEST: usize = 6;
/// The shortest value of letters alone, if nothing else is on its line.
const SHORTEST_WORD: usize = 8;
/// From this length on, upper and lower case in one value are no identifier.
const LONG: usize = 32;

/// Group `label`: what ends the name of the value. Group `env`: the name is in capitals. Then quotes or Markdown marks may follow, a separator, and
/// the value, in quotes or up to the next space.
static LABELLED: LazyLock<Regex> = LazyLock::new(|| {
    let label = "(?i-u:password|passwort|passwd|passphrase|kennwort|pwd|secret|api[_-]?key|access[_-]?key|secret[_-]?key|private[_-]?key|\
                 account[_-]?key|encryption[_-]?key|[_-]token|contrasena|senha|mot de passe|wachtwoord)|contraseña|Contraseña|пароль|Пароль";
    let pattern = format!(
        r#"(?P<label>{label})(?P<more>[_-][A-Za-z0-9_-]{{1,24}})?["'`*_]{{0,4}}[ \t]{{0,8}}(?P<by>:=|=>|[:=]|： ?|(?:is|ist|es|est)[ \t])[*_]{{0,3}}[ \t]{{0,8}}(?:"(?P<double>[^"\r\n]+)"|'(?P<single>[^'\r\n]+)'|`(?P<code>[^`\r\n]+)`|(?P<bare>[^ \t\r\n"'`]+))"#
    );
    Regex::new(&pattern).expect("the pattern is tested")
});

/// Group 1 is the credentials of a header, in any scheme.
static HEADER: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(?i-u:authorization)["']?[ \t]{0,4}[:=][ \t]{0,4}["']?(?i-u:basic|token|apikey|digest|bearer)[ \t]+([^ \t\r\n"'`]{6,})"#)
        .expect("the pattern is tested")
});

/// Group 1 may be the credentials of a user in base64, without the name of the header.
static BASIC: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?i-u:basic)[ \t]+([A-Za-z0-9+/]{8,}={0,2})").expect("the pattern is tested"));

/// A name in a program, and what leads to a member of it.
const NAME: &str = "[A-Za-z_][A-Za-z0-9_]*";
const TO_MEMBER: &str = r"(?:::|[?!]?\.|->)";
/// What may follow an expression: the end of the sentence, the list or the block that it is in.
const END: &str = r"[.,;:)\]}>*_|]*$";

/// A call or a type with parameters: `z.string().min(8)`, `Option<&str>`, `vec![0;32]`. It may go on after a space or a quote.
static CALL: LazyLock<Regex> = LazyLock::new(|| {
    let member = format!("{TO_MEMBER}{NAME}");
    Regex::new(&format!(r"^{NAME}(?:{member})*(?:::)?!?[(\[<](?:.*[)\]>(\[<{{,;=])?(?:{member})*\??{END}")).expect("the pattern is tested")
});

/// A call of a function alone, which a password may look like: `sha256(pw)`, `hunter2(old)`.
static BARE_CALL: LazyLock<Regex> = LazyLock::new(|| Regex::new(&format!(r"^{NAME}\([^()]*\)?{END}")).expect("the pattern is tested"));

/// Types of which a value has one: `string|null`. One of them is known, or ends like a type. A password may look like others: `correct|horse`.
static UNION: LazyLock<Regex> = LazyLock::new(|| {
    let item = r"[A-Za-z_.]+(?:<[^<>]*>|\[\])?";
    let known = r"(?:null|undefined|None|nil|void|string|String|str|number|boolean|bool|int|float|bytes|Buffer|Uint8Array|any|unknown|never|object|[A-Za-z_.]+(?:<[^<>]*>|\[\]))";
    Regex::new(&format!(r"^(?:{item}\|)*{known}(?:\|{item})*{END}")).expect("the pattern is tested")
});

/// A member of something: `process.env.DB_PASSWORD_1`. In a secret, digits and capitals are anywhere, not only where words end and begin. Group
/// `last`: its own name.
static MEMBER: LazyLock<Regex> = LazyLock::new(|| {
    let word = "(?:[A-Z]?[a-z]{2,}(?:[A-Z][a-z]+)*|[A-Z]{2,})[0-9]*";
    let name = format!("{word}(?:_(?:{word}|[A-Za-z]?[0-9]*))*");
    Regex::new(&format!("^{name}(?P<between>(?:{TO_MEMBER}{name})*){TO_MEMBER}(?P<last>{name}){END}")).expect("the pattern is tested")
});

pub(super) fn find(text: &str) -> impl Iterator<Item = Range<usize>> {
    let labelled = LABELLED.captures_iter(text).filter_map(|found| secret_of(text, &found));
    let headers = HEADER.captures_iter(text).filter_map(|found| Some(found.get(1)?.range()));
    let basic = BASIC.captures_iter(text).filter_map(|found| found.get(1).filter(|value| is_user_and_password(value.as_str())));
    labelled.chain(headers).chain(basic.map(|value| value.range()))
}

fn secret_of(text: &str, found: &Captures<'_>) -> Option<Range<usize>> {
    let quoted = ["double", "single", "code"].iter().find_map(|name| found.name(name));
    let value = quoted.or_else(|| found.name("bare"))?;
    let whole = value.as_str();
    let trimmed = whole.trim_end_matches(['.', ',', ';', ':', ')', ']', '}', '>', '*', '_', '|']);
    // A bracket that was opened in the value is a part of it.
    let closes = trimmed.contains('(') && !trimmed.contains(')') && whole[trimmed.len()..].starts_with(')');
    let trimmed = if closes { &whole[..=trimmed.len()] } else { trimmed };
    let (range, secret) = if quoted.is_some() { (value.range(), whole) } else { (value.start()..value.start() + trimmed.len(), trimmed) };
    if secret.chars().count() < SHORTEST || is_reference(secret) {
        return None;
    }
    let by_sentence = found["by"].starts_with(|c: char| c.is_ascii_alphabetic());
    let is_plain = quoted.is_none()
        && match &found["by"] {
            "=" if is_variable(found) => is_code(secret),
            "=" => is_code(secret) || CALL.is_match(whole),
            _ if by_sentence => is_term(secret),
            _ if BARE_CALL.is_match(whole) => is_in_program(text, found),
            _ => is_declared(whole, &found["label"]),
        };
    let is_mixed = is_mixed(secret) && !is_plain;
    let is_word = secret.chars().count() >= SHORTEST_WORD && !secret.contains(char::is_whitespace);
    let names_value = match quoted {
        Some(_) => is_word && !by_sentence,
        None => is_word && whole == secret && is_alone(text, found) && (!is_plain || &found["by"] == "="),
    };
    (is_mixed || names_value).then_some(range)
}

/// Letters with a digit or a sign that no word has, or both cases in a long value.
fn is_mixed(secret: &str) -> bool {
    if secret.contains(char::is_whitespace) {
        return false;
    }
    let has = |is: fn(&char) -> bool| secret.chars().any(|c| is(&c));
    let inside: String = secret.chars().take(secret.chars().count() - 1).collect();
    let has_sign = inside.contains(['!', '@', '#', '$', '%', '^', '&', '*', '+', '=', '~', '?', '/', '\\', '|']) && !is_address(secret);
    let is_long = secret.len() >= LONG && has(char::is_ascii_uppercase) && has(char::is_ascii_lowercase);
    has(|c| c.is_alphabetic()) && (has(char::is_ascii_digit) || has_sign || is_long)
}

/// It names where the secret is: a placeholder, a variable, a path, an address, a person.
fn is_reference(secret: &str) -> bool {
    let first = secret.chars().next().unwrap_or_default();
    matches!(first, '$' | '<' | '{' | '(' | '[' | '/' | '~' | '%' | '&' | '@' | '-') || secret.starts_with("./") || secret.contains("://")
}

fn is_address(secret: &str) -> bool {
    secret.split_once('@').is_some_and(|(name, host)| !name.is_empty() && host.contains('.') && !host.contains('@'))
}

/// An expression of a program: `hash2(password)`, `user1.password`, `env["DB_PASSWORD_1"]`.
fn is_code(secret: &str) -> bool {
    let name_end = secret.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | ':' | '&' | '*'))).unwrap_or(secret.len());
    let is_called = secret[name_end..].starts_with(['(', '[', '?']) && name_end > 0;
    let is_member = name_end == secret.len() && secret.split(['.', ':']).filter(|part| part.len() > 2).count() > 1;
    is_called || is_member
}

/// An expression or a type of a program after a colon.
fn is_declared(value: &str, label: &str) -> bool {
    MEMBER.captures(value).is_some_and(|member| is_named(&member, label)) || CALL.is_match(value) || UNION.is_match(value)
}

/// Whether a member has the name of the label or of a constant. Words with dots between them may be a secret.
fn is_named(member: &Captures<'_>, label: &str) -> bool {
    let letters = |text: &str| text.chars().filter(char::is_ascii_alphabetic).collect::<String>().to_lowercase();
    let (last, label) = (&member["last"], letters(label));
    let is_same = !label.is_empty() && letters(last).contains(&label);
    let is_deep = !member["between"].is_empty();
    let has_digit = last.contains(|c: char| c.is_ascii_digit());
    is_same && (is_deep || !has_digit) || is_deep && !last.contains(char::is_lowercase)
}

/// Words of a sentence that are joined: "caching/prefetching", "SHA-256-hashed". A number follows only a word in capitals.
fn is_term(secret: &str) -> bool {
    let is_long = secret.len() >= LONG;
    let parts: Vec<&str> = secret.split(['/', '-']).collect();
    let is_capital = |part: &str| part.len() > 1 && part.chars().all(char::is_uppercase);
    let is_word = |part: &str| !part.is_empty() && part.chars().all(char::is_alphabetic) && !part.chars().skip(1).any(char::is_uppercase);
    let is_number = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_digit());
    let fits = |at: usize| match parts[at] {
        part if is_number(part) => at > 0 && is_capital(parts[at - 1]),
        part => is_word(part) || is_capital(part),
    };
    !is_long && parts.len() > 1 && (0..parts.len()).all(fits)
}

/// Whether it is assigned to a variable of the environment.
fn is_variable(found: &Captures<'_>) -> bool {
    &found["by"] == "=" && found["label"].chars().all(|c| !c.is_lowercase())
}

/// Whether the line holds nothing else than label and value, as in a list of settings.
fn is_alone(text: &str, found: &Captures<'_>) -> bool {
    let all = found.get_match();
    let before = text[..all.start()].rsplit(['\n', '\r']).next().unwrap_or_default();
    let after = text[all.end()..].split(['\n', '\r']).next().unwrap_or_default();
    let is_variable = is_variable(found);
    let is_name = |c: char| c.is_ascii_uppercase() || matches!(c, '_' | ' ' | '-' | '*' | '>' | '"' | '`');
    let is_listed = before.chars().all(|c| matches!(c, ' ' | '\t' | '-' | '*' | '>' | '"' | '`'));
    let starts = if is_variable { before.chars().all(is_name) || before.starts_with("export ") } else { is_listed };
    let has_sign = matches!(&found["by"], ":" | "： " | "：") || is_variable;
    starts && has_sign && after.trim().is_empty() && found.name("more").is_none()
}

/// Whether what stands around it is of a program: a brace or a call that is open before it, a comma or a semicolon that ends the line, or a bracket
/// that closes on the next one.
fn is_in_program(text: &str, found: &Captures<'_>) -> bool {
    let all = found.get_match();
    let before = text[..all.start()].rsplit(['\n', '\r']).next().unwrap_or_default();
    let (rest, below) = text[all.end()..].split_once('\n').unwrap_or((&text[all.end()..], ""));
    let ends = rest.trim().is_empty() && (all.as_str().ends_with([',', ';', '{']) || below.trim_start().starts_with(['}', ')']));
    let is_call = |(at, _)| before[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
    ends || before.contains('{') || before.match_indices('(').any(is_call)
}

fn is_user_and_password(value: &str) -> bool {
    let decoded = STANDARD.decode(value).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    decoded.is_some_and(|text| text.contains(':') && text.chars().all(|c| !c.is_control()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::chat::redact::{REDACTED, Redactor};

    fn redact(text: &str) -> String {
        Redactor::new(&[]).redact(text).0.into_owned()
    }

    #[test]
    fn a_value_with_a_label_is_hidden() {
        for (before, secret, after) in [
            ("password: ", "hunter2", ""),
            ("the password: ", "hunter2", ", keep it"),
            ("Password: ", "swordfish", "\nuser: ann"),
            ("user: ann\n  - password: ", "Sommerregen", "\n"),
            ("**Password:** ", "Tr0ub4dor&3", ""),
            ("`db_password` = `", "winter2026!", "` is old"),
            ("\"password\": \"", "correcthorse", "\","),
            ("Passwort: ", "geheim123", ""),
            ("das Passwort ist ", "geheim123", "."),
            ("the password is ", "hunter2!", " by the way"),
            ("Authorization: Basic ", "YWxhZGRpbjpvcGVuc2VzYW1l", ""),
            ("-H 'Authorization: Basic ", "dXNlcjpwYXNz", "' https://example.org"),
            ("\"authorization\": \"Token ", "0123456789abcdef", "\""),
            ("Proxy-Authorization: basic ", "YWxhZGRpbjpvcGVuc2VzYW1l", ""),
            ("it sends Basic ", "YWxhZGRpbjpvcGVuc2VzYW1l", " each time"),
            ("aws_secret_access_key = ", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "\nregion = eu"),
            ("aws_secret_access_key = ", "wJalrXUtnFEMIyKlMDENGabPxRfiCYEXAMPLEKEY", ""),
            ("export AWS_SECRET_ACCESS_KEY=", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", ""),
            ("DB_PASSWORD=", "swordfish", ""),
            ("PGPASSWORD=", "s3cret", " psql"),
            ("spring.datasource.password=", "abc123!x", ""),
            ("api_key: ", "a1b2c3d4e5f6", ""),
            ("X-Api-Key: ", "a1b2c3d4e5f6", ""),
            ("client_secret=", "a1b2c3d4e5f6", "&grant_type=x"),
            ("mysql --password=", "hunter2", " -u root"),
            ("SLACK_BOT_TOKEN=", "abc123def456", ""),
            ("password_staging: ", "hunter22", ""),
            ("password: ", "hunter2Xy!9", ""),
            ("aws_secret_access_key = ", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", ""),
            ("the secret is ", "wJalrXUtnFEMI/KKMDENG/bPxRfiCYEXAMPLEKEY", ""),
            ("Authorization: Basic ", "dXNlcjpwYXNz", ""),
            ("password: ", "summer.2024rain", ""),
            ("password: ", "admin.password123", ""),
            ("password: ", "kT(9x)!w", ""),
            ("password: ", "Tr0ub4dor|3", ""),
            ("  api_key: ", "a1b2.c3d4.e5f6", ""),
            ("api_key: ", "MTzNDU2.GhIjKl.abc", ""),
            ("password: ", "correct.horse.battery9", ""),
            ("- password: ", "correct.horse.battery", "\n"),
            ("the password is ", "correct-horse-7", ""),
            ("the password is ", "Winter-2024", "."),
            ("the password is ", "aB/cDeF", ""),
            ("password: ", "correct|horse", ""),
            ("password: ", "correct|horse|battery", ", user: ann"),
            ("Password: ", "Correct|Horse", "\nuser: ann"),
            ("password: ", "hunter2(old)", ""),
            ("password: ", "hunter2(old)", " and user ann"),
            ("- password: ", "hunter2(old)", "\n- user: ann"),
            ("password: ", "hunter(winter)", ""),
            ("the password: ", "hunter2()", ", keep it"),
            ("log in (password: ", "hunter2(old)", ")"),
        ] {
            let after_redacted = after.replace("&grant_type=x", "");
            let redacted = redact(&format!("{before}{secret}{after}"));
            assert!(!redacted.contains(secret), "{redacted}");
            assert!(redacted.starts_with(&format!("{before}{REDACTED}")), "{redacted}");
            assert!(redacted.ends_with(&after_redacted), "{redacted}");
        }
    }

    #[test]
    fn prose_and_programs_stay_as_they_are() {
        for text in [
            "the password: ask Ann",
            "password: required for everybody who logs in",
            "I forgot the password. Ann: it is in the safe",
            "Password: see the wiki at https://wiki.example/p1",
            "The password is rotated every 90 days",
            "the secret: bake it for 40 minutes",
            "secret: ann@example.org knows it",
            "password: <your password here>",
            "password: ${DB_PASSWORD_1}",
            "password = os.environ[\"DB_PASSWORD_1\"]",
            "password = read_password2(user)",
            "password = user1.password",
            "    password: String,",
            "  password: string;",
            "password_file: /run/secrets/db1",
            "let secret = self.secrets.find(id)?;",
            "api key: none",
            "max_tokens: 4096 and next steps",
            "if the token = 5, stop",
            "a basic understanding",
            "Basic JavaScript",
            "Mot de passe : demande à Anne",
            "password: [redacted]",
            "password: ********",
            "    private_key: Vec<u8>,",
            "    password: Option<&str>,",
            "    pub private_key: std::sync::Arc<[u8; 32]>,",
            "fn log_in(password: HashMap<u8, String>) {",
            "  password: string|null;",
            "  password: Secret|undefined;",
            "  password: { type: string|Buffer }",
            "const hash = (password: Brand<string>|Plain) => 1",
            "    login({ user: u, password: sha256(pw), remember: true })",
            "    password: sha256(pw)\n  }",
            "  password: string[]|null;",
            "  password: z.string().min(8),",
            "  password: z.string().min(8, \"too short\"),",
            "    password: bcrypt.hashSync(pw,10)",
            "    password: sha256(pw),",
            "    password: format!(\"{name}1\"),",
            "  password: user1.password,",
            "  password: process.env.DB_PASSWORD_1,",
            "  apiKey: process.env.OPENAI_V2_KEY\n}",
            "  password: user.password\n}",
            "type Secret = Vec<u8>;",
            "the secret is caching/prefetching",
            "The password is SHA-256-hashed",
            "The access key is AES-256 encrypted",
        ] {
            assert_eq!(redact(text), text);
        }
    }

    proptest! {
        #[test]
        fn prose_after_a_label_is_not_touched(
            label in prop::sample::select(vec!["the password", "Password", "a secret", "API key", "access key"]),
            words in prop::collection::vec("[a-zäöüé]{1,14}", 2..8),
            end in prop::sample::select(vec!["", ".", "!", "?", ", then\nthe rest"]),
        ) {
            let text = format!("{label}: {}{end}", words.join(" "));
            prop_assert_eq!(redact(&text), text);
        }

        #[test]
        fn a_value_of_letters_and_digits_never_gets_out(
            before in "[a-z ]{0,20}",
            label in prop::sample::select(vec!["password: ", "Password = ", "secret: ", "api_key=", "aws_secret_access_key = ", "Passwort: "]),
            secret in "[a-z]{3,10}[0-9][A-Za-z0-9]{3,20}",
            after in "( [a-z]{1,8}){0,4}",
        ) {
            let redacted = redact(&format!("{before}\n{label}{secret}{after}"));
            prop_assert!(!redacted.contains(&secret), "{redacted}");
        }
    }
}
