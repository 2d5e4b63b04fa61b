//! Finds the web addresses in a text.
//!
//! Does not parse Markdown: inline links, references, autolinks and bare addresses all contain the address. It also finds addresses hidden
//! by escapes or entities. A false match is better than a missed address.

use reqwest::Url;

use kernel::text::without_invisible;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Address {
    /// As written in the text.
    pub(super) shown: String,
    /// Possible addresses, normalised: with and without trailing punctuation.
    pub(super) readings: Vec<String>,
}

/// The addresses of a text in order, without duplicates.
pub(super) fn addresses_in(text: &str) -> Vec<Address> {
    let text = unescape(&without_invisible(text));
    // Has the same length, so positions are valid in both.
    let lower = text.to_ascii_lowercase();
    let mut found: Vec<Address> = Vec::new();
    let mut at = 0;
    while let Some(begin) = find_begin(&lower, at) {
        let shown = &text[begin..begin + length_of(&text[begin..])];
        at = begin + shown.len().max(1);
        while !text.is_char_boundary(at) {
            at += 1;
        }
        let bare = shown.trim_end_matches(|c: char| "*_~.,;:!?'’”»…。，".contains(c));
        let mut readings: Vec<String> = [bare, shown].into_iter().filter_map(normalise).collect();
        readings.dedup();
        if !readings.is_empty() && !found.iter().any(|known| known.readings == readings) {
            found.push(Address { shown: bare.to_owned(), readings });
        }
    }
    found
}

/// Normalises an address: without fragment, which no server sees, and without trailing slash. None if it is not a web address.
pub(super) fn normalise(address: &str) -> Option<String> {
    let address = address.trim();
    let whole = if has_prefix(address, "www.") { format!("http://{address}") } else { address.to_owned() };
    let mut url = Url::parse(&whole).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host())?;
    url.set_fragment(None);
    Some(url.as_str().trim_end_matches('/').to_owned())
}

/// The start of the next address: its scheme, or `www.`.
fn find_begin(lower: &str, from: usize) -> Option<usize> {
    let scheme = lower[from..].match_indices("http").map(|(at, _)| from + at).find(|at| {
        let after = &lower[at + 4..];
        let after = after.strip_prefix('s').unwrap_or(after);
        after.strip_prefix(':').is_some_and(|after| {
            // Browsers accept any number of slashes or backslashes.
            let host = after.trim_start_matches(['/', '\\']);
            host.len() < after.len() && host.starts_with(|c: char| c.is_alphanumeric() || c == '[')
        })
    });
    let www = lower[from..].match_indices("www.").map(|(at, _)| from + at).find(|at| {
        !lower[..*at].ends_with(|c: char| c.is_alphanumeric() || c == '/' || c == '.' || c == '@')
            && lower[at + 4..].starts_with(char::is_alphanumeric)
    });
    scheme.into_iter().chain(www).min()
}

/// The length of an address: up to white space, a delimiter, or a bracket that was not opened inside.
fn length_of(text: &str) -> usize {
    let (mut round, mut square) = (0_u32, 0_u32);
    for (at, c) in text.char_indices() {
        let ends = match c {
            '(' => {
                round += 1;
                false
            }
            '[' => {
                square += 1;
                false
            }
            ')' if round > 0 => {
                round -= 1;
                false
            }
            ']' if square > 0 => {
                square -= 1;
                false
            }
            ')' | ']' | '<' | '>' | '"' | '`' | '|' => true,
            c => c.is_whitespace(),
        };
        if ends {
            return at;
        }
    }
    text.len()
}

/// Resolves Markdown escapes and the entities that can hide an address.
fn unescape(text: &str) -> String {
    if !text.contains(['\\', '&']) {
        return text.to_owned();
    }
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['\\', '&']) {
        plain.push_str(&rest[..at]);
        rest = &rest[at..];
        let (meant, length) = escaped(rest).or_else(|| entity(rest)).unwrap_or_else(|| (first_char(rest), 1));
        plain.push(meant);
        rest = &rest[length..];
    }
    plain + rest
}

fn first_char(text: &str) -> char {
    text.chars().next().expect("the caller found a character here")
}

/// A backslash escape such as `\:`, and its length.
fn escaped(text: &str) -> Option<(char, usize)> {
    let meant = text.strip_prefix('\\')?.chars().next().filter(char::is_ascii_punctuation)?;
    Some((meant, 2))
}

/// An entity such as `&#58;`, `&#x3a;` or `&colon;`, and its length.
fn entity(text: &str) -> Option<(char, usize)> {
    // The longest known entity has eight characters. Numbers may have leading zeros.
    let end = text.char_indices().take(16).find(|(_, c)| *c == ';')?.0;
    let name = &text[1..end];
    let meant = match name {
        "amp" => '&',
        "colon" => ':',
        "sol" => '/',
        "period" => '.',
        "lpar" => '(',
        "rpar" => ')',
        "lowbar" => '_',
        "Tab" | "NewLine" | "nbsp" => ' ',
        _ => {
            let number = name.strip_prefix('#')?;
            let hex = number.strip_prefix(['x', 'X']);
            char::from_u32(hex.map_or_else(|| number.parse(), |hex| u32::from_str_radix(hex, 16)).ok()?)?
        }
    };
    Some((meant, end + 1))
}

fn has_prefix(text: &str, prefix: &str) -> bool {
    text.get(..prefix.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(prefix))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn found(text: &str) -> Vec<String> {
        addresses_in(text).into_iter().map(|address| address.readings[0].clone()).collect()
    }

    #[test]
    fn every_way_of_writing_a_link_names_its_address() {
        for text in [
            "See https://a.example/x for more.",
            "See https://a.example/x.",
            "(https://a.example/x)",
            "[there](https://a.example/x)",
            "[there](https://a.example/x \"a title\")",
            "[there](<https://a.example/x>)",
            "[https://a.example/x](https://a.example/x)",
            "![picture](https://a.example/x)",
            "<https://a.example/x>",
            "[1]: https://a.example/x",
            "**https://a.example/x**",
            "| https://a.example/x|next cell |",
            "`https://a.example/x`",
            "<a href='https://a.example/x'>there</a>",
            "HTTPS://A.example/x",
            "https://a.example:443/x#part",
            "https://a.example/x/",
            // Disguised addresses.
            "[there](https\\://a.example/x)",
            "[there](https&#58;//a.example/x)",
            "[there](https&#x3A;&#x2f;&sol;a.example/x)",
            "[there](https&colon;//a&period;example/x)",
            "[there](https:/a.example/x)",
            "[there](https:\\\\a.example/x)",
            "ht\u{200b}tps://a.example/x",
            "\"https:\\/\\/a.example\\/x\"",
            "xhttps://a.example/x",
        ] {
            assert_eq!(found(text), ["https://a.example/x"], "{text}");
        }
    }

    #[test]
    fn addresses_keep_what_is_their_own() {
        for (text, address) in [
            ("https://a.example/Foo_(bar), then", "https://a.example/Foo_(bar)"),
            ("https://a.example/?a=1&amp;b=2", "https://a.example/?a=1&b=2"),
            ("http://[2001:db8::1]/x", "http://[2001:db8::1]/x"),
            ("see www.a.example/x", "http://www.a.example/x"),
            ("https://münchen.example", "https://xn--mnchen-3ya.example"),
        ] {
            assert_eq!(found(text), [address], "{text}");
        }
        let dotted = &addresses_in("https://a.example/etc.")[0];
        assert_eq!(dotted.readings, ["https://a.example/etc", "https://a.example/etc."]);
    }

    #[test]
    fn what_leads_nowhere_is_no_address() {
        for text in
            ["", "http", "https://", "https:// a", "https://<host>/", "ftp://a.example", "the http: header", "awww.yes", "me@www.a.example"]
        {
            assert_eq!(found(text), Vec::<String>::new(), "{text}");
        }
        assert_eq!(found("http://a.example http://a.example/ http://b.example").len(), 2, "each once");
    }

    proptest! {
        #[test]
        fn no_text_is_too_strange(text in "(?s)(http|s|:|/|\\\\|&|#|x|;|www\\.|[(\\[<>)]|\u{fc}|.){0,60}") {
            addresses_in(&text);
        }

        #[test]
        fn an_address_is_found_wherever_it_stands(before in "[a-z .,\n(*|]{0,20}", path in "[a-z0-9/]{1,20}", after in "[ \n)>|\"][a-z .\n]{0,20}") {
            let address = format!("https://a.example/{path}");
            let found = found(&format!("{before}{address}{after}"));
            prop_assert!(found.contains(&normalise(&address).expect("an address")), "{found:?}");
        }
    }
}
