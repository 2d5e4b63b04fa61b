use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use clap::ArgMatches;

use crate::config::RetentionSettings;
use crate::features::backlog::replies::ReplyListener;
use crate::features::backlog::requests::RequestListener;
use crate::features::backlog::service::{self, Backlog};
use crate::features::backlog::tools::{self, ADDING, TELLING};
use crate::features::backlog::{Deps, Work, commands, store, terminal, workspaces};
use crate::features::chat::commands::ItemTitles;
use crate::features::chat::listener::Listener;
use crate::features::{Feature, FeatureDeps, TerminalCommand, ToolDeps};
use crate::store::Store;
use kernel::commands::{Refused, Registry, Services};
use kernel::db::StoreError;
use kernel::ids::WorkItemId;
use kernel::jobs::{JobHandler, RetentionRule};
use kernel::people::Erasure;
use kernel::repository::Repositories;
use kernel::tools::workspace::Workspaces;
use kernel::tools::{Act, Tool};

pub struct BacklogFeature;

#[async_trait]
impl Feature for BacklogFeature {
    async fn forget_person(&self, store: &Store, erasure: &Erasure) -> Result<(), StoreError> {
        store.forget_private_items(erasure).await
    }

    fn register(&self, registry: &mut Registry, services: &Services) {
        commands::register(registry, services);
    }

    fn provide(&self, deps: &FeatureDeps<'_>, services: &Services) {
        let FeatureDeps { config, roster, people, store, running, kanban, clock, .. } = deps;
        let repositories = Repositories::new(config.repositories.clone(), &config.data.join("worktrees"));
        services.provide(Arc::new(Backlog::new(service::Deps {
            store: store.clone(),
            roster: roster.clone(),
            people: people.clone(),
            repositories: repositories.clone(),
            budgets: config.budgets.clone(),
            zone: config.schedules.zone,
            working_hours: config.backlog.working_hours,
            most_rejections: config.backlog.attempts,
            chat: config.chat.clone(),
            is_offline: config.models.tiers.values().all(Vec::is_empty),
            kanban: kanban.clone(),
            clock: clock.clone(),
        })));
        let titles_from = store.clone();
        services.provide(Arc::new(ItemTitles(Box::new(move |ids| {
            let store = titles_from.clone();
            Box::pin(async move { list_titles(&store, ids).await })
        }))));
        let Some(running) = running else { return };
        services.provide(Arc::new(Work::new(Deps {
            roster: roster.clone(),
            people: people.clone(),
            settings: config.backlog.clone(),
            zone: config.schedules.zone,
            learnings: config.data.join("learnings.md"),
            store: store.clone(),
            agents: running.agents.clone(),
            budgets: config.budgets.clone(),
            workspaces: running.workspaces.clone(),
            repositories,
            platform: running.platform.clone(),
            item_tools: services.late(),
            ops_channel: config.ops_channel().to_owned(),
            clock: clock.clone(),
        })));
    }

    async fn recover(&self, services: &Services) -> anyhow::Result<()> {
        Ok(services.late::<Work>().get()?.recover().await?)
    }

    fn listeners(&self, services: &Services) -> Vec<Arc<dyn Listener>> {
        vec![
            Arc::new(ReplyListener { backlog: services.late(), work: services.late() }),
            Arc::new(RequestListener { backlog: services.late() }),
        ]
    }

    fn tools(&self, deps: &ToolDeps) -> Vec<Arc<dyn Tool>> {
        tools::list(deps)
    }

    fn acts(&self) -> &'static [Act] {
        &[ADDING, TELLING]
    }

    fn job_handlers(&self, services: &Services) -> Result<Vec<Arc<dyn JobHandler>>, Refused> {
        Ok(services.late::<Work>().get()?.job_handlers())
    }

    fn list_retention(&self, settings: &RetentionSettings, workspaces: &Workspaces) -> Vec<RetentionRule> {
        let mut rules = store::retention(settings.work(), settings.model_calls());
        rules.push(workspaces::retention(workspaces, settings.work()));
        rules
    }

    fn extend_command_line(&self, command: clap::Command) -> clap::Command {
        command.mut_subcommand("backlog", terminal::extend)
    }

    fn find_terminal_command(&self, given: &ArgMatches) -> Option<TerminalCommand> {
        terminal::find(given)
    }
}

/// The titles of items by their ids. An item of a private place has none.
async fn list_titles(store: &Store, ids: Vec<String>) -> HashMap<String, String> {
    let mut titles = HashMap::new();
    for id in ids {
        if let Ok(Some(item)) = store.find_item(&WorkItemId::new(id)).await
            && item.private_to.is_none()
        {
            titles.insert(item.id.to_string(), item.what);
        }
    }
    titles
}
