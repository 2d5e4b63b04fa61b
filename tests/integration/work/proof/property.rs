//! Random claims about random stored data.

use chrono::TimeDelta;
use kernel::chat::outbound::{OutboundKind, OutboundMessage, Posted};
use kernel::feeds::Sample;
use proptest::prelude::*;
use teamroom::features::backlog::model::{Claim, Execution, JournalEntry, WorkItem};
use teamroom::features::backlog::verifier::Verdict;

use super::{at_most_200, watch};
use crate::work::stage::{Stage, fetched, file, item, now};

/// A claim, and whether it is true.
#[derive(Debug, Clone)]
enum Said {
    File { name: u8, written: bool, in_this_run: bool, changed: bool, cites: Option<bool> },
    Message { sent: bool },
    Value { holds: bool, recorded: bool },
}

fn said() -> impl Strategy<Value = Said> {
    prop_oneof![
        (0..3_u8, any::<bool>(), any::<bool>(), any::<bool>(), any::<Option<bool>>())
            .prop_map(|(name, written, in_this_run, changed, cites)| Said::File { name, written, in_this_run, changed, cites }),
        any::<bool>().prop_map(|sent| Said::Message { sent }),
        (any::<bool>(), any::<bool>()).prop_map(|(holds, recorded)| Said::Value { holds, recorded }),
    ]
}

impl Said {
    /// Whether the claim is true and proves an item of this kind.
    fn is_so(&self, kind: &Execution) -> bool {
        match (self, kind) {
            (Self::File { written, in_this_run, changed, cites, .. }, Execution::Write) => {
                *written && *in_this_run && !changed && *cites != Some(false)
            }
            (Self::Message { sent }, Execution::Remind { .. }) => *sent,
            (Self::Value { holds, recorded }, Execution::Watch(_)) => *holds && *recorded,
            _ => false,
        }
    }

    /// Stores the data, and makes a true or false claim about it.
    async fn claim(&self, stage: &Stage, item: &WorkItem, index: usize, journal: &mut Vec<JournalEntry>) -> Claim {
        match self {
            Self::File { name, written, in_this_run, changed, cites } => {
                let path = format!("{name}-{index}.md");
                let link = match cites {
                    None => "",
                    Some(true) => "https://a.example/x",
                    Some(false) => "https://never.example",
                };
                let text = format!("# Heading\n\nEnough words below it to be prose of some kind or other. {link}\n");
                if *written {
                    let entry = stage.write(item, &path, text.as_bytes()).await;
                    journal.extend(in_this_run.then_some(entry));
                }
                if *written && *changed {
                    stage.write(item, &path, format!("{text}Changed.").as_bytes()).await;
                }
                file(&path)
            }
            Self::Message { sent } => {
                let message = OutboundMessage::new(&"kelly".into(), &"10".into(), OutboundKind::Answer, "hello");
                stage.store.enqueue(std::slice::from_ref(&message), now()).await.unwrap();
                if *sent {
                    let posted = Posted { channel: "10".into(), message: format!("p{}", message.id).into(), at: now() };
                    stage.store.record_sent(&message.id, &posted).await.unwrap();
                }
                Claim::Message { outbox: message.id }
            }
            Self::Value { holds, recorded } => {
                let key = stage.readings.get_feed("shop").unwrap().key().to_owned();
                let at = now() - TimeDelta::hours(1000 - i64::try_from(index).unwrap());
                if *recorded {
                    let number = if *holds { 150.0 } else { 250.0 };
                    let sample = Sample { feed: key, name: "p95".into(), unit: "ms".into(), at, number };
                    stage.store.record_samples(&[sample], now()).await.unwrap();
                }
                Claim::Value { feed: "shop".into(), name: "p95".into(), at }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn nothing_is_proven_unless_all_of_it_is_so(
        cases in proptest::collection::vec((0..3_usize, proptest::collection::vec(said(), 0..4), any::<bool>()), 4),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            for (kind, said, criteria) in cases {
                let stage = Stage::on_sqlite().await;
                let kinds = [Execution::Write, Execution::Remind { whom: None }, watch(Some(at_most_200()), "shop").execution.unwrap()];
                let kind = kinds[kind].clone();
                let criteria: Vec<String> = criteria.then(|| "It is good".to_owned()).into_iter().collect();
                let item = WorkItem { criteria: criteria.clone(), ..item(kind.clone()) };
                let (mut journal, mut claims) = (vec![fetched("https://a.example/x")], Vec::new());
                for (index, said) in said.iter().enumerate() {
                    claims.push(said.claim(&stage, &item, index, &mut journal).await);
                }
                let so = !said.is_empty() && said.iter().all(|said| said.is_so(&kind));
                let verdict = stage.verify(&item, &claims, &journal).await;
                match &verdict {
                    Verdict::Proven(evidence) => {
                        prop_assert!(so && !evidence.is_empty() && criteria.is_empty() && matches!(kind, Execution::Watch(_)), "{said:?}: {verdict:?}");
                    }
                    Verdict::ForReview { evidence, .. } => prop_assert!(so && !evidence.is_empty(), "{said:?}: {verdict:?}"),
                    Verdict::Told(evidence) => {
                        prop_assert!(so && !evidence.is_empty() && matches!(kind, Execution::Remind { .. }), "{said:?}: {verdict:?}");
                    }
                    Verdict::NotYet { .. } | Verdict::Unproven { .. } => prop_assert!(!so, "{said:?}: {verdict:?}"),
                }
                if let Verdict::Unproven { reasons, .. } = &verdict {
                    prop_assert!(!reasons.is_empty());
                }
            }
            Ok(())
        })?;
    }
}
