//! The marks that git leaves in a file where two changes contradict each other.

/// The length of a mark. Files of some attributes have longer ones.
const LENGTH: usize = 7;

/// Each line that may be a mark, with its number. `known`: lines that were in the file before it was joined, such as an underlined heading. Each of
/// them explains one line.
pub(super) fn find_marks<'a>(text: &'a str, known: &[String]) -> Vec<(usize, &'a str)> {
    let mut known: Vec<&str> = known.iter().map(String::as_str).collect();
    let mut is_left = |line: &str| {
        let explained = known.iter().position(|known| *known == line);
        explained.map(|place| known.swap_remove(place)).is_none()
    };
    (1..).zip(text.lines()).filter(|(_, line)| is_mark(line) && is_left(line)).collect()
}

fn is_mark(line: &str) -> bool {
    if line == "=======" {
        return true;
    }
    let is_row = |sign: char| {
        let rest = line.trim_start_matches(sign);
        line.len() - rest.len() >= LENGTH && (rest.is_empty() || rest.starts_with(' '))
    };
    is_row('<') || is_row('>')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_found_and_what_only_looks_like_one_is_not() {
        let text = "a\n<<<<<<< 13c63dc\nb\r\n=======\r\nc\n>>>>>>> ac411ec\n";
        let found = |text: &str, known: &[String]| find_marks(text, known).iter().map(|(line, _)| *line).collect::<Vec<_>>();
        assert_eq!(found(text, &[]), [2, 4, 6]);
        assert_eq!(found("<<<<<<<\n<<<<<<<<<<<< x\n", &[]), [1, 2], "without a name, and longer");
        assert_eq!(found("Prices\n========\na <<<<<<< b\n<<<<<<<b\n<<<<<< c\n", &[]), [0; 0]);
        let known = ["=======".to_owned()];
        assert_eq!(found("Heading\n=======\n>>>>>>> x\n", &known), [3]);
        assert_eq!(found("Heading\n=======\nb\n=======\nc\n", &known), [4], "one heading explains no mark");
    }
}
