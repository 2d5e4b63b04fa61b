use crate::features::backlog::executor::agent_run::approvals::ItemApprovals;
use crate::features::backlog::executor::agent_run::finish::{self, Finish};
use crate::features::backlog::executor::agent_run::material::Material;
use crate::features::backlog::executor::agent_run::waiting::WaitFor;
use crate::features::backlog::executor::agent_run::{AgentExecutor, Background, Deliverable, Site, patch_name, repository};
use crate::features::backlog::executor::item_journal::ItemJournal;
use crate::features::backlog::executor::{Assignment, Outcome, failure};
use crate::features::backlog::model::{Blocker, Product, Wait, WorkItem, WorkKind};
use crate::features::backlog::review::Critic;
use crate::features::backlog::verifier::{CITATIONS, Cleaned, clean_citations, sha256_of};
use kernel::agent::context::new_marker;
use kernel::agent::{Approvals, Journal, JournalEntry, Limits, Offer, OwnTool, Prompt, Reply, Run, RunError, Tools, addresses_in};
use kernel::memory::{MemorySource, Scope};
use kernel::money::Purpose;
use kernel::persona::{Persona, Tier};
use kernel::tools::workspace::{MOST_FILE_BYTES, Written};
use kernel::tools::{CallStatus, RESEARCH, ToolError, Trace};

/// The minimum token limit of a reply, because a document comes in one piece.
const OUTPUT_TOKENS: u32 = 6000;

/// Tools of every run, whatever the persona lists: only files count as results, and what the team has made can be read.
const ALWAYS: [&str; 5] = ["item_read", "meeting_read", "workspace_list", "workspace_read", "workspace_write"];

/// The workspace tools of a run in a repository. Its result is in the repository; the workspace only has the files that it builds on.
const READ_ONLY: [&str; 4] = ["item_read", "meeting_read", "workspace_list", "workspace_read"];

/// Those that are only named as long as the item is not about them.
const READS: [&str; 2] = ["item_read", "meeting_read"];

/// A change of a repository needs many small calls.
const REPOSITORY: Limits = Limits { calls: 80, replies: 100 };

/// The journal entry for a document that we saved from a reply.
const SAVED: &str = "saved";

impl AgentExecutor {
    /// Starts a run or resumes it from its journal.
    ///
    /// A wait for approval is stored here, with its approval. The caller stores every other outcome. If the assignment is cancelled or the
    /// job is lost, returns [`Outcome::Later`] at once; the next holder of the item resumes the run.
    ///
    /// # Errors
    /// No model is configured for this kind, or the database is unavailable.
    pub(crate) async fn execute(&self, assignment: &Assignment<'_>, background: &Background<'_>) -> anyhow::Result<Outcome> {
        let Assignment { item, persona, cancel, .. } = *assignment;
        let deliverable = item.execution.as_ref().and_then(|execution| Deliverable::of(execution, background.site));
        let deliverable = deliverable.ok_or_else(|| anyhow::anyhow!("no model carries out work item {}", item.id))?;
        let journal = ItemJournal::new(&self.store, assignment);
        let approvals = background.spot.map(|spot| ItemApprovals { store: &self.store, agents: &self.agents, assignment, spot });
        let always: &[&str] = if background.site.is_some() { &READ_ONLY } else { &ALWAYS };
        let listed = persona
            .tools
            .iter()
            .map(String::as_str)
            .filter(|tool| !ALWAYS.contains(tool))
            .chain(always.iter().copied())
            .chain(["skill_read"]);
        // The author of a step judges its own work before handing it in (WORK-17).
        let mut critic = (item.kind == WorkKind::Step).then(|| Critic::new(&self.store, &self.agents, &self.workspaces, assignment));
        if let Some(critic) = critic.as_mut().filter(|_| deliverable == Deliverable::Research) {
            critic.divide().await;
        }
        let limits = limits_of(background);
        let finish = Finish { critic: critic.as_ref(), calls: limits.calls, workspaces: &self.workspaces, item: &item.id };
        let mut own = match background.site {
            Some(site) => repository::tools(site, finish, cancel),
            None => vec![Box::new(finish) as Box<dyn OwnTool>],
        };
        own.push(Box::new(WaitFor { store: &self.store, agents: &self.agents, item, journal: &journal }));
        own.extend(background.more_tools.map(|tools| tools.offer(assignment)).unwrap_or_default());
        let tools = Tools {
            listed: listed.map(str::to_owned).collect(),
            offer: Offer::Fitting {
                about: subject_of(item),
                first: always.iter().filter(|tool| !READS.contains(tool)).chain(looks_up(deliverable)).copied().collect(),
                also: Vec::new(),
            },
            own,
            workspace: Some(&item.id),
            source: Some(MemorySource::WorkItem(item.id.clone())),
            scope: Scope::private(item.private_to.clone()),
            asked_by: None,
            addresses: addresses_of(item),
            approvals: approvals.as_ref().map(|approvals| approvals as &dyn Approvals),
            in_chat: None,
            limits,
        };
        let began = self.agents.runner.clock.now();
        let reply = self.agents.run(Run {
            persona: Some(persona),
            purpose: Purpose::Step,
            subject: item.id.as_str(),
            tier: tier_of(persona, deliverable),
            pictures: Vec::new(),
            prompt: Box::pin(self.write_prompt(assignment, background, deliverable, critic.as_ref().map_or(&[], Critic::questions))),
            max_output_tokens: self.agents.max_output_tokens.max(OUTPUT_TOKENS),
            keep_partial: false,
            allowance: None,
            tools: Some(tools),
            journal: Some(&journal),
            cancel,
        });
        let concluded = match reply.await {
            Ok(reply) => match background.site {
                Some(site) => self.conclude_change(assignment, site, reply, &journal).await,
                None => self.conclude(item, deliverable, reply, &journal).await,
            },
            Err(error) => Err(error),
        };
        let (questions, critique) = critic.map(Critic::into_parts).unwrap_or_default();
        let concluded = concluded.map(|outcome| match outcome {
            Outcome::Made(product) => Outcome::Made(Product { questions, critique, ..product }),
            other => other,
        });
        concluded.or_else(|error| failure::outcome(error, journal.idle_before(began), self.agents.runner.clock.now()))
    }

    async fn write_prompt(
        &self,
        assignment: &Assignment<'_>,
        background: &Background<'_>,
        deliverable: Deliverable,
        questions: &[String],
    ) -> Result<Prompt, RunError> {
        let Assignment { item, persona, .. } = *assignment;
        let read = self.agents.readings.read(&persona.slug).await;
        let subject = subject_of(item);
        let scope = Scope::private(item.private_to.clone());
        let passages = self.agents.find_passages(&read, &subject, &scope).await?;
        let material = Material {
            team: &self.agents.team,
            roster: &self.agents.roster,
            persona,
            item,
            deliverable,
            background,
            feeds: &read.reports,
            passages: &passages,
            findings: &[],
            questions,
            limits: format!("{} calls, {}", limits_of(background).calls, RESEARCH.describe()),
            tokens: self.agents.prompt_tokens(tier_of(persona, deliverable)),
            marker: &new_marker(),
            now: self.agents.runner.clock.now(),
        };
        // Findings that may quote somebody outside are only for runs that have read such text anyway.
        let findings = self.agents.find_findings(&persona.slug, &subject, &scope, material.is_tainted()).await?;
        Ok(Material { findings: &findings, ..material }.prompt())
    }

    /// The result: the files named by the model, or the reply itself as a document.
    async fn conclude(
        &self,
        item: &WorkItem,
        deliverable: Deliverable,
        reply: Reply,
        journal: &ItemJournal<'_>,
    ) -> Result<Outcome, RunError> {
        let Reply { text, model, finish, mut written, .. } = reply;
        if let Some(arguments) = finish {
            return match finish::read_product(&arguments, &written, model.as_deref()) {
                Ok(Product { claims, blocked: Some(why), .. }) if claims.is_empty() => Ok(blocked(&why)),
                Ok(product) => self.clean_citations(item, deliverable, product, journal).await,
                Err(why) => Ok(missing(why)),
            };
        }
        if written.is_empty() {
            if deliverable == Deliverable::Files {
                return Ok(missing("the language model described the work but wrote no file".into()));
            }
            let saved = match self.save(item, &text).await {
                Ok(saved) => saved,
                Err(error) => return Ok(failing(format!("cannot save the document: {error}"))),
            };
            written.push(saved.path.clone());
            self.record_saved("The reply", saved, journal).await?;
        }
        self.clean_citations(item, deliverable, Product { model, ..finish::product_of(&text, written) }, journal).await
    }

    /// Removes from documents the citations of pages that nobody has fetched (WORK-16). Each removal is journaled before the file is written, so that
    /// a resumed run repeats it after a crash in between.
    async fn clean_citations(
        &self,
        item: &WorkItem,
        deliverable: Deliverable,
        product: Product,
        journal: &ItemJournal<'_>,
    ) -> Result<Outcome, RunError> {
        // Files for programs stay unchanged.
        let is_prose = |path: &&str| path.rsplit_once('.').is_some_and(|(_, form)| matches!(form, "md" | "markdown" | "txt"));
        let paths: Vec<&str> =
            if deliverable == Deliverable::Files { Vec::new() } else { product.files().into_iter().filter(is_prose).collect() };
        if paths.is_empty() {
            return Ok(Outcome::Made(product));
        }
        let entries: Vec<JournalEntry> = self.store.list_journal(&item.id, item.run).await?.into_iter().map(|(entry, _)| entry).collect();
        let earlier = self.store.list_earlier_journals(item).await?;
        let workspace = match self.workspaces.open(&item.id).await {
            Ok(workspace) => workspace,
            Err(error) => return Ok(failing(format!("cannot open the workspace: {error}"))),
        };
        for path in paths {
            // The verifier reports files that cannot be read.
            let Ok(file) = workspace.read(path, MOST_FILE_BYTES).await else { continue };
            let Some(Cleaned { text, removed }) =
                String::from_utf8(file.head).ok().and_then(|text| clean_citations(item, [&earlier, &entries], &text))
            else {
                continue;
            };
            let path = path.trim_start_matches("./").to_owned();
            let bytes = text.len() as u64;
            let entry = JournalEntry::Returned {
                call: CITATIONS.into(),
                text: removed.join("\n"),
                outside: true,
                status: CallStatus::Ok,
                trace: Some(Trace::Wrote { path: path.clone(), sha256: sha256_of(text.as_bytes()), bytes }),
            };
            if !journal.append(&[entry], self.agents.runner.clock.now()).await? {
                return Err(RunError::Lost);
            }
            if let Err(error) = workspace.write(&path, text.as_bytes()).await {
                return Ok(failing(format!("cannot save the document: {error}")));
            }
        }
        Ok(Outcome::Made(product))
    }

    /// The result of work in a repository: its commit, with the patch in the workspace.
    async fn conclude_change(
        &self,
        assignment: &Assignment<'_>,
        site: Site<'_>,
        reply: Reply,
        journal: &ItemJournal<'_>,
    ) -> Result<Outcome, RunError> {
        let Assignment { item, persona, .. } = *assignment;
        let concluded = repository::conclude(site.worktree, item, persona, reply.finish.as_ref(), &reply.text).await;
        let (product, patch) = match concluded {
            Ok(Some(made)) => made,
            Ok(None) => {
                let said = reply.finish.as_ref().and_then(|arguments| finish::read_summary(arguments).ok());
                let why = said.and_then(|said| said.blocked);
                return Ok(why.map_or_else(|| missing("nothing in the repository was changed".into()), |why| blocked(&why)));
            }
            Err(error) => return Ok(failing(error.to_string())),
        };
        let saved = match self.workspaces.open(&item.id).await {
            Ok(workspace) => workspace.write(&patch_name(item), &patch).await,
            Err(error) => Err(error),
        };
        match saved {
            Ok(saved) => self.record_saved("The change", saved, journal).await?,
            Err(error) => return Ok(failing(format!("cannot save the patch: {error}"))),
        }
        Ok(Outcome::Made(Product { model: reply.model, ..product }))
    }

    async fn record_saved(&self, what: &str, saved: Written, journal: &ItemJournal<'_>) -> Result<(), RunError> {
        let entry = JournalEntry::Returned {
            call: SAVED.into(),
            text: format!("{what} was saved as {}.", saved.path),
            outside: false,
            status: CallStatus::Ok,
            trace: Some(Trace::Wrote { path: saved.path, sha256: saved.sha256, bytes: saved.bytes }),
        };
        if journal.append(&[entry], self.agents.runner.clock.now()).await? { Ok(()) } else { Err(RunError::Lost) }
    }

    /// Saves a reply as a file. Idempotent.
    async fn save(&self, item: &WorkItem, text: &str) -> Result<Written, ToolError> {
        self.workspaces.open(&item.id).await?.write(&finish::file_name(&item.what), text.as_bytes()).await
    }
}

fn tier_of(persona: &Persona, deliverable: Deliverable) -> Tier {
    persona.tier.max(if deliverable == Deliverable::Research { Tier::T2 } else { Tier::T1 })
}

/// A person decides.
fn blocked(why: &str) -> Outcome {
    Outcome::Waits(Wait::blocked(why))
}

fn missing(why: String) -> Outcome {
    Outcome::Failed { blocker: Blocker::MissingEvidence, why }
}

fn failing(why: String) -> Outcome {
    Outcome::Failed { blocker: Blocker::FailingTool, why }
}

fn limits_of(background: &Background<'_>) -> Limits {
    if background.site.is_some() { REPOSITORY } else { Limits::WORK }
}

/// What an item is about, in the words of whoever asked for it.
fn subject_of(item: &WorkItem) -> String {
    [&item.what, &item.how, &item.why].map(String::as_str).join("\n")
}

/// The tools with which work of this form looks things up.
fn looks_up(deliverable: Deliverable) -> &'static [&'static str] {
    match deliverable {
        Deliverable::Research => &["fetch_page", "memory_search", "read_document", "read_feed", "web_search"],
        Deliverable::Document | Deliverable::Files | Deliverable::Change => &[],
    }
}

/// Addresses in the item's text, which may be fetched without approval.
fn addresses_of(item: &WorkItem) -> Vec<String> {
    [&item.what, &item.how, &item.why, &item.said].into_iter().chain(&item.criteria).flat_map(|words| addresses_in(words)).collect()
}
