use proptest::prelude::*;

use super::*;
use crate::chat::medium::Medium;

#[test]
fn what_platforms_lack_is_written_with_what_they_have() {
    for (markdown, shown) in [
        ("#### Deep **and** bold", "**Deep and bold**"),
        ("###### `x` deepest ##", "**`x` deepest**"),
        ("## Two ##", "## Two"),
        ("- ### In a list", "- **In a list**"),
        ("> #### Quoted", "> **Quoted**"),
        ("Title\n=====\ntext", "**Title**\ntext"),
        ("a\n\n---\n\nb", "a\n\n──────────\n\nb"),
        ("* * *", RULE),
        ("- [ ] call Ann\n- [x] pay\n  * [X] now\n1. [ ] later", "- ☐ call Ann\n- ☑ pay\n  * ☑ now\n1. ☐ later"),
        ("one<br>two<br/>three", "one\ntwo\nthree"),
        ("> one<br>two", "> one\n> two"),
        ("<b>bold</b>, <em>slanted</em>, <u>under</u>, <del>gone</del>", "**bold**, *slanted*, __under__, ~~gone~~"),
        ("<p align=\"center\">\nHello\n</p>", "Hello"),
        ("<ul><li>one</li><li>two</li></ul>", "- one\n- two"),
        ("press <kbd>Ctrl</kbd>, H<sub>2</sub>O, m<sup>2</sup>", "press `Ctrl`, H₂O, m²"),
        (
            "<a href=\"https://a.org\">here</a> <img src='https://a.org/x.png' alt='map'/>",
            "[here](https://a.org) [map](https://a.org/x.png)",
        ),
        ("<details><summary>More</summary>text</details>", "**More**\ntext"),
        ("a&nbsp;&amp;&nbsp;b &lt;c&gt;", r"a & b \<c>"),
        ("<!-- a note -->done", "done"),
        ("R&amp;D – x, a&amp;十二十二", "R&D – x, a&十二十二"),
        (
            r"R\&D costs \$5 to \$6, \&amp; and \$x^2\$ stay, and \\&amp; is read",
            r"R&D costs $5 to $6, &amp; and $x^2$ stay, and \\& is read",
        ),
        ("10 m$^2$, $(a+b)^2$", "10 m², (a+b)²"),
        (r"so $E = mc^2$ and \(\alpha \le 1\)", "so E = mc² and α ≤ 1"),
        ("$$\\frac{a}{b}$$", "a/b"),
        ("\\[\nx_i = \\frac{1}{2}\n\\]", "xᵢ = 1/2"),
        ("$$\ny = x^2\n$$\nend", "y = x²\nend"),
        (r"$5 and $6, or $5-$6, $HOME/$USER", r"$5 and $6, or $5-$6, $HOME/$USER"),
        ("true[^1].\n\n[^1]: By Ann.\n[^note]: Later.", "true¹.\n\n¹ By Ann.\nⁿᵒᵗᵉ Later."),
        ("[rust](https://w.org/Rust_(language)) (good)", "[rust](https://w.org/Rust_%28language%29) (good)"),
        ("[a](https://a.org \"the title\") [b](<https://b.org>)", "[a](https://a.org) [b](<https://b.org>)"),
        ("[plan](./plan.md), [top](#top), [Ann](mailto:a@b.org)", "plan (./plan.md), top, Ann (a@b.org)"),
        ("[https://a.org](https://a.org) [see https://a.org](https://b.org)", "https://a.org see https://a.org (https://b.org)"),
        (
            "see [the plan][1] or [it].\n\n[1]: https://a.org\n[it]: https://b.org",
            "see [the plan](https://a.org) or [it](https://b.org).\n",
        ),
        ("![chart](https://a.org/c.png)", "[chart](https://a.org/c.png)"),
        (r"https://a.org/x\_y\_z and a line break\", "https://a.org/x_y_z and a line break"),
        ("~~~rust\nlet a = b;\n~~~\n~~gone~~", "```rust\nlet a = b;\n```\n~~gone~~"),
        ("| a |\n|---|\n| b<br>c |", "```\n| a    |\n|------|\n| b; c |\n```"),
    ] {
        assert_eq!(simplify(markdown), shown, "{markdown}");
    }
}

#[test]
fn what_platforms_show_and_what_is_no_markdown_stays() {
    for text in [
        "# One\n## Two\n### Three\n- a\n  - b\n1. c\n> d\n**e** *f* ~~g~~ `h` [i](https://j.org)",
        "`<br> #### $x^2$ [^1] a\\_b`",
        "```html\n<br>\n#### x\n- [ ] y\n$$\n\\frac{a}{b}\n```",
        "usage: /remind <what> <when>, a < b, 1 <2 and <3",
        "<user:discord:42> in <channel:discord:7>: <https://a.org/a_(b)>",
        r"\<b> \# \[x\] \[\^1\] C:\dir\new \*a\*",
        "<small>in short</small>",
        "list[0] and [not a link] and f(x)[1] #1 #tag",
        "R&D; a && b; 5 $ each",
        "^foo$|^bar$ or foo$(^a)$, $(^a|^b)$",
        r"\[",
        "\\[\n1,\n2\n\\]",
        "-5 degrees\n--flag\n__init__.py",
    ] {
        assert_eq!(simplify(text), text);
    }
}

/// A line without the escapes that no platform needs. Code has none.
fn without_inner_escapes(line: &str) -> String {
    let mut shown = String::new();
    let (mut rest, mut in_code) = (line.chars(), false);
    while let Some(c) = rest.next() {
        in_code ^= c == '`';
        let escaped = if c == '\\' && !in_code { rest.next() } else { None };
        if escaped.is_none_or(|escaped| !"&$".contains(escaped)) {
            shown.push(c);
        }
        shown.extend(escaped);
    }
    shown
}

/// Each construct with one word of its own.
fn constructs() -> impl Strategy<Value = String> {
    // Without the letters of "cdot", which is looked for.
    let word = "[abe-z]{3,8}";
    prop_oneof![
        ("#{4,6}", word).prop_map(|(marks, word)| format!("{marks} {word}")),
        word.prop_map(|word| format!("- [ ] {word}")),
        word.prop_map(|word| format!("  * [x] <b>{word}</b>")),
        word.prop_map(|word| format!("> {word}<br>more")),
        word.prop_map(|word| format!("<p>{word}</p>")),
        word.prop_map(|word| format!("where \\({word} \\cdot 2\\) and ${word}^2$")),
        word.prop_map(|word| format!("{word}[^1]\n\n[^1]: {word}")),
        word.prop_map(|word| format!("**{word}**、[{word}](https://a.org/{word}_(x))")),
        word.prop_map(|word| format!("| {word} | b |\n|---|---|\n| 1<br>2 | snake\\_case |")),
        word.prop_map(|word| format!("{word}\\\n\n---\n")),
        word.prop_map(|word| format!("{word}\n===")),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn no_mark_that_platforms_lack_is_left(parts in prop::collection::vec(constructs(), 1..8)) {
        let shown = simplify(&parts.join("\n"));
        for mark in ["####", "[ ]", "[x]", "<b", "<p", "</", "$", "\\", "[^", "---\n\n", "===", "_(", "cdot"] {
            prop_assert!(!shown.replace("|---", "").contains(mark), "{mark} in {shown}");
        }
    }

    #[test]
    fn foreign_text_stays(text in "([a-z0-9 ]|[-|`*_#<>@\\\\\\[\\]()!$=~.{}&^;]|<b>|<br>|&lt;|\\$x\\^2\\$){0,60}") {
        let line = Medium::Chat.line(&text);
        prop_assert_eq!(simplify(&line), without_inner_escapes(&line));
    }

    #[test]
    fn a_foreign_cell_stays(text in "[a-z]([a-z0-9 ]|[-|*_#<>@\\\\\\[\\]()!$=~.{}&^;]|<b>|<br>|&lt;|\\$x\\^2\\$){0,60}[a-z]") {
        let shown = simplify(&format!("| {} |\n|---|", Medium::Chat.cell(&text)));
        let expected = crate::chat::medium::flatten(&text);
        prop_assert!(shown.contains(&format!("\n| {expected} |\n")), "{expected} in {shown}");
    }

    #[test]
    fn any_text_is_read(text in "(\\PC|[-|`*_#<>@\\\\\\[\\]()!$=~.^{}&;\n]|<b>|</b>|<a href=|\\[\\^|\\$\\$|https://){0,80}") {
        simplify(&simplify(&text));
    }
}

#[test]
fn hostile_text_takes_no_longer_than_its_length() {
    for part in ["[", "<b>", "[[a](", "$", "`", "\\(", "<b><i>", "![", "&", "<", "[a]:", "http://", "**", "> "] {
        simplify(&part.repeat(20_000));
        simplify(&format!("{}{}", part.repeat(500), "](x)</b></i>)".repeat(500)));
    }
}
