use std::sync::Arc;

use async_trait::async_trait;

use crate::features::board::listener::BoardListener;
use crate::features::board::model::Board;
use crate::features::board::playing::BoardAudio;
use crate::features::board::service::{BoardService, Terms};
use crate::features::board::tool::BoardCreate;
use crate::features::board::{BOARD, BoardSettings, Boards, commands, render};
use crate::features::chat::listener::Listener;
use crate::features::meeting::agenda::Agenda;
use crate::features::meeting::model::{Meeting, MeetingResult};
use crate::features::voice::{Playable, Plays};
use crate::features::{Feature, FeatureDeps, FeatureSection, ToolDeps};
use crate::store::Store;
use kernel::commands::{Registry, Services};
use kernel::config::Section;
use kernel::db::StoreError;
use kernel::people::Erasure;
use kernel::persona::roster::Roster;
use kernel::tools::Tool;

pub struct BoardFeature;

impl FeatureSection for BoardSettings {}

#[async_trait]
impl Feature for BoardFeature {
    fn read_settings(&self, root: &mut Section<'_>) -> Option<Arc<dyn FeatureSection>> {
        Some(Arc::new(BoardSettings::read(&mut root.section("board"))))
    }

    fn register(&self, registry: &mut Registry, services: &Services) {
        commands::register(registry, services);
    }

    fn provide(&self, deps: &FeatureDeps<'_>, services: &Services) {
        let FeatureDeps { config, roster, people, store, running, clock, .. } = deps;
        services.provide(Arc::new(BoardService {
            store: store.clone(),
            roster: roster.clone(),
            people: people.clone(),
            terms: Terms::of(config, roster),
            clock: clock.clone(),
        }));
        let Some(running) = running else { return };
        services.provide(Arc::new(Boards {
            store: store.clone(),
            roster: roster.clone(),
            agents: running.agents.clone(),
            settings: config.features.get::<BoardSettings>(),
            platform: running.platform.clone(),
            plays: Plays::of(deps),
            clock: clock.clone(),
        }));
    }

    /// Hears what people say in the threads of board meetings.
    fn listeners(&self, services: &Services) -> Vec<Arc<dyn Listener>> {
        vec![Arc::new(BoardListener { boards: services.late() })]
    }

    fn tools(&self, deps: &ToolDeps) -> Vec<Arc<dyn Tool>> {
        let terms = Terms::of(&deps.config, &deps.roster);
        vec![Arc::new(BoardCreate { store: deps.store.clone(), roster: deps.roster.clone(), terms })]
    }

    fn agenda(&self, services: &Services) -> Option<Arc<dyn Agenda>> {
        services.late::<Boards>().get().ok().map(|boards| boards as Arc<dyn Agenda>)
    }

    async fn find_meeting_result(&self, meeting: &Meeting, store: &Store, roster: &Roster) -> Result<Option<MeetingResult>, StoreError> {
        if meeting.kind != BOARD {
            return Ok(None);
        }
        let board: Board = meeting.read_payload()?;
        let written = store.find_board(&meeting.id).await?.and_then(|record| record.document);
        Ok(Some(render::result(meeting, &board, written.as_ref(), roster)))
    }

    fn playable(&self, services: &Services) -> Option<Arc<dyn Playable>> {
        Some(Arc::new(BoardAudio { boards: services.late() }))
    }

    async fn forget_person(&self, store: &Store, erasure: &Erasure) -> Result<(), StoreError> {
        store.forget_remarks_of(&erasure.person).await
    }
}
