//! Which tools a request offers. Those that the situation is about stand in it with all their arguments, because these cost a hundred tokens each.
//! `find_tool` names the others, and offers them from the next reply on. A tool that is only named may be called at once, too, so that none is lost.
//!
//! Everything is computed from what was asked and from the calls so far, so that a resumed run offers the same.

use std::collections::HashSet;

use serde_json::{Value, json};

use crate::agent::run::progress::Progress;
use crate::agent::run::{Offer, Tools};
use crate::llm::ToolSpec;
use crate::memory::retrieval::terms_of;
use crate::tools::Toolbox;

/// The tool that offers other tools.
pub(super) const FIND: &str = "find_tool";

/// Limit of tools that are offered because of the words of a request, and because of those of a work item, which has many words and tools of its own.
const FITTING: usize = 4;
const FITTING_WORK: usize = 2;

/// Limit of tools that one call finds by words.
const FOUND: usize = 4;

/// The tools of a run.
#[derive(Debug, Default)]
pub(super) struct Offered {
    /// Offered in every request, and first, so that providers can cache them.
    always: Vec<ToolSpec>,
    more: Vec<Findable>,
    /// Those of `more` that the request is about.
    fitting: Vec<String>,
}

#[derive(Debug)]
struct Findable {
    spec: ToolSpec,
    /// The words by which people ask for it.
    asked_by: HashSet<String>,
    /// The same, and those of its description.
    described_by: HashSet<String>,
}

impl Offered {
    pub(super) fn new(toolbox: &Toolbox, tools: &Tools<'_>) -> Self {
        let mut always = toolbox.specs(&tools.listed, tools.workspace.is_some(), tools.is_for_message());
        let mut more = Vec::new();
        if let Offer::Fitting { first, .. } = &tools.offer {
            let is_first = |spec: &ToolSpec| first.iter().any(|name| *name == spec.name);
            let rest: Vec<ToolSpec> = always.extract_if(.., |spec| !is_first(spec)).collect();
            more = rest.into_iter().map(|spec| Findable::new(spec, toolbox)).collect();
        }
        always.extend(tools.own.iter().map(|own| own.spec()));
        // A few small tools cost no more than their names.
        if size_of(more.iter().map(|tool| &tool.spec)) < 2 * size_of([&find_spec(&more)].into_iter()) {
            always.extend(more.drain(..).map(|tool| tool.spec));
        }
        let fitting = match &tools.offer {
            Offer::All => Vec::new(),
            Offer::Fitting { about, also, .. } => {
                let also = also.iter().map(|name| (*name).to_owned());
                let most = if tools.workspace.is_some() { FITTING_WORK } else { FITTING };
                also.chain(rank(&more, about, |tool| &tool.asked_by, most)).collect()
            }
        };
        Self { always, more, fitting }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.always.is_empty() && self.more.is_empty()
    }

    /// Whether `find_tool` is offered.
    pub(super) fn can_find(&self) -> bool {
        !self.more.is_empty()
    }

    /// The tools of the next request. In their order of appearance, so that the beginning stays the same.
    pub(super) fn list(&self, progress: &Progress) -> Vec<ToolSpec> {
        let mut names = self.fitting.clone();
        for call in progress.list_calls() {
            if call.name == FIND { names.extend(self.find(&call.arguments)) } else { names.push(call.name.clone()) }
        }
        if progress.sent_back {
            // The model is to do what it has only claimed, whatever that was.
            names.extend(self.more.iter().map(|tool| tool.spec.name.clone()));
        }
        let mut seen = HashSet::new();
        names.retain(|name| seen.insert(name.clone()));
        let find = self.can_find().then(|| find_spec(&self.more));
        let added = names.iter().filter_map(|name| self.more.iter().find(|tool| tool.spec.name == *name)).map(|tool| tool.spec.clone());
        self.always.iter().cloned().chain(find).chain(added).collect()
    }

    /// The tools that `find_tool` names.
    pub(super) fn list_named(&self) -> Vec<ToolSpec> {
        self.more.iter().map(|tool| tool.spec.clone()).collect()
    }

    /// The result of a call of `find_tool`, for the model.
    pub(super) fn tell(&self, arguments: &Value) -> String {
        let names = self.find(arguments);
        format!("From your next reply on you have: {}.", names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", "))
    }

    /// The tools that somebody names, else those that fit best, else all.
    fn find(&self, arguments: &Value) -> Vec<String> {
        let words = arguments["words"].as_str().unwrap_or_default();
        let said: HashSet<&str> = words.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
        let all = || self.more.iter().map(|tool| tool.spec.name.clone());
        let named: Vec<String> = all().filter(|name| said.contains(name.as_str())).collect();
        if !named.is_empty() {
            return named;
        }
        let fitting = rank(&self.more, words, |tool| &tool.described_by, FOUND);
        if fitting.is_empty() { all().collect() } else { fitting }
    }
}

impl Findable {
    fn new(spec: ToolSpec, toolbox: &Toolbox) -> Self {
        let asked_by: HashSet<String> =
            terms_of(&format!("{} {}", spec.name.replace('_', " "), toolbox.asked_by(&spec.name))).into_iter().collect();
        let described_by = asked_by.iter().cloned().chain(terms_of(&spec.description)).collect();
        Self { spec, asked_by, described_by }
    }

    /// Its name with the beginning of its description.
    fn in_short(&self) -> String {
        let end = self.spec.description.find(['.', ',', ':', ';']).unwrap_or(self.spec.description.len());
        format!("- `{}`: {}", self.spec.name, &self.spec.description[..end])
    }
}

/// The names of the tools that a text is about, the best first.
pub fn list_fitting(toolbox: &Toolbox, listed: &[String], about: &str) -> Vec<String> {
    let tools: Vec<Findable> = toolbox.specs(listed, false, true).into_iter().map(|spec| Findable::new(spec, toolbox)).collect();
    rank(&tools, about, |tool| &tool.asked_by, FITTING)
}

/// The names of the tools that share words with a text, the best first. A word counts less the more tools share it.
fn rank<'t>(tools: &'t [Findable], text: &str, words: impl Fn(&'t Findable) -> &'t HashSet<String>, most: usize) -> Vec<String> {
    let said: HashSet<String> = terms_of(text).into_iter().collect();
    let weight = |term: &String| 60 / tools.iter().filter(|tool| words(tool).contains(term)).count().max(1);
    let score = |tool: &'t Findable| words(tool).intersection(&said).map(weight).sum::<usize>();
    let mut ranked: Vec<(usize, &Findable)> = tools.iter().map(|tool| (score(tool), tool)).filter(|(score, _)| *score > 0).collect();
    ranked.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    ranked.into_iter().take(most).map(|(_, tool)| tool.spec.name.clone()).collect()
}

/// Names all of `more`, also those that are offered already, so that it is the same in each request.
fn find_spec(more: &[Findable]) -> ToolSpec {
    let names: Vec<String> = more.iter().map(Findable::in_short).collect();
    ToolSpec {
        name: FIND.into(),
        description: format!(
            "Gives you more tools from your next reply on. Call it before you say that you cannot do or look up something. You can have:\n{}",
            names.join("\n")
        ),
        parameters: json!({
            "type": "object",
            "properties": {"words": {"type": "string", "description": "Names of tools, or what you want to do."}},
            "required": ["words"],
            "additionalProperties": false,
        }),
    }
}

fn size_of<'a>(specs: impl Iterator<Item = &'a ToolSpec>) -> usize {
    specs.map(|spec| spec.name.len() + spec.description.len() + spec.parameters.to_string().len()).sum()
}
