use std::sync::Arc;

use async_trait::async_trait;

use crate::features::voice::cache::Cache;
use crate::features::voice::jobs::MakeAudio;
use crate::features::voice::player::Player;
use crate::features::voice::samples::Samples;
use crate::features::voice::script::Playable;
use crate::features::voice::{VoiceSettings, commands};
use crate::features::{FEATURES, Feature, FeatureDeps, FeatureSection};
use kernel::chat::redact::Redactor;
use kernel::commands::{Refused, Registry, Services};
use kernel::config::Section;
use kernel::jobs::JobHandler;

pub struct VoiceFeature;

impl FeatureSection for VoiceSettings {}

#[async_trait]
impl Feature for VoiceFeature {
    fn read_settings(&self, root: &mut Section<'_>) -> Option<Arc<dyn FeatureSection>> {
        Some(Arc::new(VoiceSettings::read(&mut root.section("voice"))))
    }

    fn register(&self, registry: &mut Registry, services: &Services) {
        commands::register(registry, services);
    }

    fn provide(&self, deps: &FeatureDeps<'_>, services: &Services) {
        let FeatureDeps { config, roster, people, store, speech, clock, .. } = deps;
        let settings = config.features.get::<VoiceSettings>();
        let secrets: Vec<_> = config.list_secrets().into_iter().cloned().collect();
        let mut playables: Vec<Arc<dyn Playable>> = vec![Arc::new(Samples { roster: roster.clone() })];
        playables.extend(FEATURES.iter().filter_map(|feature| feature.playable(services)));
        services.provide(Arc::new(Player {
            store: store.clone(),
            roster: roster.clone(),
            people: people.clone(),
            speech: speech.clone(),
            redactor: Redactor::new(&secrets),
            cache: Arc::new(Cache::new(config.data.join("voice"), &settings)),
            settings,
            playables,
            clock: clock.clone(),
        }));
    }

    fn job_handlers(&self, services: &Services) -> Result<Vec<Arc<dyn JobHandler>>, Refused> {
        Ok(vec![Arc::new(MakeAudio { player: services.late::<Player>().get()? })])
    }
}
