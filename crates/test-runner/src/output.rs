use std::collections::BTreeMap;

/// How much of a failure's output is kept.
const KEPT_LINES: usize = 12;

/// A part of what a test program prints.
#[derive(Clone, Copy)]
enum Part<'a> {
    Results,
    /// What a failed test printed.
    PrintedBy(&'a str),
    /// The names of the failed tests.
    Failures,
}

/// What a test program printed.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Output {
    /// The tests that ran, with their seconds.
    pub(crate) times: Vec<(String, f64)>,
    pub(crate) failed: Vec<String>,
    /// What failed tests printed, without empty lines.
    printed: BTreeMap<String, Vec<String>>,
}

impl Output {
    pub(crate) fn parse(lines: &[String]) -> Self {
        let mut output = Self::default();
        let mut part = Part::Results;
        for line in lines {
            if line == "failures:" {
                part = Part::Failures;
            } else if let Some(test) = line.strip_prefix("---- ").and_then(|line| line.strip_suffix(" stdout ----")) {
                part = Part::PrintedBy(test);
            } else {
                output.read(line, part);
            }
        }
        output
    }

    fn read(&mut self, line: &str, part: Part<'_>) {
        match part {
            Part::Results => {
                let result = line.strip_prefix("test ").and_then(|line| line.split_once(" ... "));
                self.times.extend(result.and_then(|(test, result)| Some((test.to_owned(), seconds_in(result)?))));
            }
            Part::PrintedBy(_) if line.is_empty() => {}
            Part::PrintedBy(test) => self.printed.entry(test.to_owned()).or_default().push(line.to_owned()),
            Part::Failures => self.failed.extend(line.strip_prefix("    ").map(str::to_owned)),
        }
    }

    /// The message of a failed test: what it printed from its panic on, without the stack.
    pub(crate) fn failure_of(&self, test: &str) -> &[String] {
        let printed = self.printed.get(test).map_or(&[][..], Vec::as_slice);
        let begin = printed.iter().position(|line| line.contains("panicked at")).unwrap_or(0);
        let message = &printed[begin..];
        let is_over = |line: &String| line.starts_with("note: ") || line.starts_with("stack backtrace:");
        let end = message.iter().position(is_over).unwrap_or(message.len());
        &message[..end.min(KEPT_LINES)]
    }
}

/// The seconds in a result such as `ok <1.234s>`.
fn seconds_in(result: &str) -> Option<f64> {
    let (_, time) = result.split_once('<')?;
    time.strip_suffix("s>")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Output {
        Output::parse(&text.lines().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn times_and_failures_are_found() {
        let output = parse(
            "\nrunning 4 tests\ntest a::one ... ok <1.250s>\ntest a::two ... FAILED <0.002s>\ntest a::three ... ignored, long form\n\
             test a::four - should panic ... ok <0.001s>\n\nfailures:\n\n---- a::two stdout ----\nfrom the test\n\n\
             thread 'a::two' (12) panicked at tests/a.rs:3:4:\nassertion failed: false\nnote: run with `RUST_BACKTRACE=1`\n\n\n\
             failures:\n    a::two\n\ntest result: FAILED. 2 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 1.25s\n",
        );
        assert_eq!(output.times.len(), 3);
        assert_eq!(output.times[0], ("a::one".to_owned(), 1.25));
        assert_eq!(output.failed, ["a::two"]);
        assert_eq!(output.failure_of("a::two"), ["thread 'a::two' (12) panicked at tests/a.rs:3:4:", "assertion failed: false"]);
    }

    #[test]
    fn a_failure_without_a_panic_is_kept_up_to_a_limit() {
        let lines = "one of many lines\n".repeat(50);
        let output = parse(&format!("test a ... FAILED <0.1s>\nfailures:\n---- a stdout ----\n{lines}\nfailures:\n    a\n"));
        assert_eq!(output.failure_of("a").len(), KEPT_LINES);
        assert_eq!(output.failure_of("a")[0], "one of many lines");
        assert!(output.failure_of("b").is_empty());
    }
}
