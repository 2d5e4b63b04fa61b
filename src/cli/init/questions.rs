use std::io::{self, BufRead, Write};
use std::path::PathBuf;

use crate::cli::init::{Answers, ModelChoice};
use kernel::llm::settings::is_web_address;

/// Asks one question after the other. An empty line chooses the default in brackets.
pub(super) fn ask(nearby: Option<ModelChoice>, input: &mut impl BufRead, out: &mut impl Write) -> io::Result<Answers> {
    let usual = match &nearby {
        Some(ModelChoice::At { model: Some(model), .. }) => model.as_str(),
        _ => "none",
    };
    let model = format!("Language model: anthropic, openai, none, or the address of an OpenAI-compatible endpoint [{usual}]: ");
    let model = match ask_until(&model, input, out, parse_model)? {
        None => nearby.unwrap_or_default(),
        Some(ModelChoice::At { url, .. }) => {
            let name = ask_until("What is the model called there, for example llama3.2? ", input, out, |name| Ok(name.to_owned()))?;
            ModelChoice::At { url, model: name }
        }
        Some(chosen) => chosen,
    };
    let repository = ask_until("Folder of the git repository whose history the team reads [this one]: ", input, out, parse_folder)?;
    let server = "Id of your Discord server (in Discord, with developer mode: right-click the server, Copy Server ID) [later]: ";
    let server = ask_until(server, input, out, parse_server)?;
    Ok(Answers { model, repository, server })
}

/// None for an empty line and at the end of the input.
fn ask_until<T>(
    question: &str,
    input: &mut impl BufRead,
    out: &mut impl Write,
    parse: impl Fn(&str) -> Result<T, String>,
) -> io::Result<Option<T>> {
    loop {
        write!(out, "{question}")?;
        out.flush()?;
        let mut line = String::new();
        if input.read_line(&mut line)? == 0 || line.trim().is_empty() {
            return Ok(None);
        }
        match parse(line.trim()) {
            Ok(answer) => return Ok(Some(answer)),
            Err(problem) => writeln!(out, "{problem}")?,
        }
    }
}

pub(super) fn parse_model(text: &str) -> Result<ModelChoice, String> {
    match text.to_lowercase().as_str() {
        "none" => Ok(ModelChoice::None),
        "anthropic" => Ok(ModelChoice::Anthropic),
        "openai" => Ok(ModelChoice::OpenAi),
        _ if is_web_address(text, &["http", "https"]) => Ok(ModelChoice::At { url: text.to_owned(), model: None }),
        _ => Err("Give anthropic, openai, none, or an address such as http://127.0.0.1:11434/v1.".into()),
    }
}

pub(super) fn parse_folder(text: &str) -> Result<PathBuf, String> {
    let path = std::path::absolute(text).map_err(|error| error.to_string())?;
    if path.is_dir() { Ok(path) } else { Err(format!("{} is no folder.", path.display())) }
}

pub(super) fn parse_server(text: &str) -> Result<String, String> {
    let is_id = (17..=20).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_id { Ok(text.to_owned()) } else { Err("The id of a server is a number of 17 to 20 digits.".into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(nearby: Option<ModelChoice>, lines: &str) -> (Answers, String) {
        let mut out = Vec::new();
        let answers = ask(nearby, &mut lines.as_bytes(), &mut out).expect("answers");
        (answers, String::from_utf8(out).expect("text"))
    }

    fn at(url: &str, model: Option<&str>) -> ModelChoice {
        ModelChoice::At { url: url.into(), model: model.map(Into::into) }
    }

    #[test]
    fn empty_lines_and_no_lines_take_what_stands_in_brackets() {
        let nearby = at("http://127.0.0.1:11434/v1", Some("llama3.2"));
        let (answers, said) = answer(Some(nearby.clone()), "\n\n\n");
        assert_eq!(answers, Answers { model: nearby, ..Answers::default() });
        assert!(said.contains("[llama3.2]"), "{said}");
        assert_eq!(answer(None, "").0, Answers::default());
    }

    #[test]
    fn an_answer_that_cannot_be_used_is_asked_for_again_with_the_reason() {
        let folder = tempfile::tempdir().expect("a directory");
        let lines =
            format!("gpt\nhttp://10.0.0.5:8080/v1\nqwen3\n/no/such/folder\n{}\nteamroom\n80351110224678912\n", folder.path().display());
        let (answers, said) = answer(None, &lines);
        let expected = Answers {
            model: at("http://10.0.0.5:8080/v1", Some("qwen3")),
            repository: Some(folder.path().into()),
            server: Some("80351110224678912".into()),
        };
        assert_eq!(answers, expected);
        for part in ["Give anthropic, openai", "/no/such/folder is no folder", "17 to 20 digits"] {
            assert!(said.contains(part), "{part} is missing: {said}");
        }
    }
}
