//! Health and readiness.

use std::sync::atomic::Ordering;

use reqwest::StatusCode;
use serde_json::Value;
use teamroom::adapters::http::settings::ServerSettings;

use super::stage::Stage;
use crate::support::team::{Backing, on_one_store};

on_one_store!(the_team_is_ready_when_nothing_can_be_missed_and_not_before);

async fn the_team_is_ready_when_nothing_can_be_missed_and_not_before(backing: Backing) {
    let stage = Stage::start_with(backing, "127.0.0.1:0", ServerSettings::default()).await;
    for (listening, status) in [(false, StatusCode::SERVICE_UNAVAILABLE), (true, StatusCode::OK)] {
        stage.listening.store(listening, Ordering::Relaxed);
        let response = stage.http.get(stage.url("/readyz")).send().await.expect("an answer");
        assert_eq!(response.status(), status);
        let told: Value = response.json().await.expect("JSON");
        assert_eq!((&told["ready"], &told["listening"]), (&listening.into(), &listening.into()), "{told}");
    }
}
