//! Benchmarks the weekly chart: drawing time, and the team's memory during and after it.

use std::time::Instant;

use chrono::NaiveDate;
use kernel::money::Money;
use teamroom::features::standup::model::health::StandupFigures;
use teamroom::features::standup::render::draw_health;

use crate::{Stage, Wanted, spread};

pub(crate) async fn time_drawing(count: usize) {
    println!("\nthe chart of fourteen standups, drawn {count} times (the first finds the font); aim: a team on 512 MB does not notice");
    let standups: Vec<_> = (1..=14).map(standup).collect();
    let mut times = Vec::new();
    let mut bytes = 0;
    for _ in 0..count {
        let started = Instant::now();
        bytes = draw_health(&standups).expect("a chart").len();
        times.push(started.elapsed());
    }
    println!("first {:.1} ms; p50, p90, worst {} ms; {bytes} bytes", crate::millis(times[0]), spread(times));
    let mut stage = Stage::set(Wanted::default()).await;
    stage.hold(0).await;
    for drawing in 1..=2 {
        let (before, peak_before) = (stage.team.memory(), stage.team.peak_memory());
        stage.run(&["schedule", "run", "health"]);
        while stage.person.next().await.message["embeds"][0]["title"] != "Health of the standup" {}
        println!(
            "the team's memory, drawing {drawing}: {before:.1} MB before (peak {peak_before:.1}), peak {:.1}, {:.1} after",
            stage.team.peak_memory(),
            stage.team.memory()
        );
    }
}

fn standup(day: u32) -> StandupFigures {
    StandupFigures {
        day: NaiveDate::from_ymd_opt(2026, 11, day).expect("a day"),
        reports: 3 + day % 3,
        quiet: day % 4,
        skipped: 0,
        words: 150 + 13 * (day % 5),
        useful: 0,
        not_useful: 0,
        seconds: 90 + u64::from(day * 37 % 200),
        cost: Money::ZERO,
    }
}
