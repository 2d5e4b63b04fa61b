use super::*;

#[test]
fn an_address_and_a_model_in_the_environment_are_enough_to_think() {
    let config = loaded(
        "",
        &[("TEAMROOM_MODEL_URL", "http://127.0.0.1:11434/v1/"), ("TEAMROOM_MODEL", "org/llama"), ("TEAMROOM_MODEL_KIND", "anthropic")],
    );
    let provider = &config.models.providers[0];
    assert_eq!((provider.base_url.as_str(), provider.kind), ("http://127.0.0.1:11434/v1", ProviderKind::Anthropic));
    assert_eq!(config.models.tiers[&Tier::T1], [ModelRef { provider: "model".into(), model: "org/llama".into() }]);

    assert!(refused("", &[("TEAMROOM_MODEL", "x")])[0].contains("TEAMROOM_MODEL_URL: is missing"));
    assert!(refused("", &[("TEAMROOM_MODEL_URL", "http://x")])[0].contains("TEAMROOM_MODEL: is missing"));
    assert!(refused("", &[("TEAMROOM_MODEL_URL", "x"), ("TEAMROOM_MODEL", "x")])[0].contains("http://"));
    assert!(refused("", &[("TEAMROOM_MODEL_KIND", "gemini")])[0].contains("Give openai or anthropic"));
}

#[test]
fn a_key_alone_brings_its_provider_models_and_prices() {
    let config = loaded("", &[("ANTHROPIC_API_KEY", "sk-a"), ("OPENAI_API_KEY", "sk-o")]);
    let names: Vec<_> = config.models.providers.iter().map(|provider| provider.name.as_str()).collect();
    assert_eq!(names, ["anthropic", "openai"]);
    for model in config.models.tiers.values().flatten() {
        assert!(config.models.prices[&model.model].output > 0.0, "{model:?}");
    }
    assert_eq!(config.models.tiers[&Tier::T3].len(), 1);
    assert_eq!(config.list_secrets().len(), 2);
}

#[test]
fn prices_come_from_a_file_of_their_own_and_those_of_the_settings_win() {
    let load_with = |settings: &str, name: &str, prices: &str| {
        let (dir, sources) = sources(settings, &[]);
        std::fs::write(dir.path().join(name), prices).expect("written");
        load(sources).map_err(|errors| errors.0.iter().map(ToString::to_string).collect::<Vec<_>>())
    };
    let prices = "[house-model]\ninput = 1.0\noutput = 4.0\n[\"org/other-1.5\"]\ninput = 2.0\noutput = 8.0\ncached = 0.5\n";
    let config = load_with("[models.prices.house-model]\noutput = 3.0\n", "prices.toml", prices).expect("valid");
    assert_eq!(config.models.prices["house-model"], ModelPrice { input: 0.0, cached: 0.0, output: 3.0, minute: 0.0 });
    assert_eq!(config.models.prices["org/other-1.5"], ModelPrice { input: 2.0, cached: 0.5, output: 8.0, minute: 0.0 });
    let config = load_with("[models]\nprices_file = \"costs.toml\"\n", "costs.toml", prices).expect("valid");
    assert_eq!(config.models.prices["house-model"], ModelPrice { input: 1.0, cached: 1.0, output: 4.0, minute: 0.0 });

    for (settings, text, error) in [
        ("", "[m]\ninput = \"cheap\"\n", "prices.toml:2: models.prices.m.input: \"cheap\" is not allowed"),
        ("", "[m]\ninput = 1.0\noutptu = 2.0\n", "prices.toml:3: models.prices.m.outptu: unknown key; did you mean output?"),
        ("", "[m]\ninput = 1.0\n[m]\noutput = 1.0\n", "prices.toml:3: [m]: stands here for the second time, first in line 1"),
        ("", "[m]\ninput = \n", "prices.toml:2: syntax: "),
        ("", "input = 1.0\n", "prices.toml:1: models.prices.input: is not allowed; write a heading"),
        ("team = 3\n", "[m]\noutput = -1.0\n", "prices.toml:2: models.prices.m.output: -1"),
        ("[models]\nprices_file = \"elsewhere.toml\"\n", "", "elsewhere.toml: file: cannot be read: "),
    ] {
        let told = load_with(settings, "prices.toml", text).expect_err("a refusal");
        assert!(told.iter().any(|told| told.starts_with(error)), "{text}: {told:#?}");
    }
}

#[test]
fn a_key_of_a_provider_that_no_tier_names_changes_nothing() {
    let config = loaded("", &[("GROQ_API_KEY", "gsk")]);
    assert!(config.models.providers.is_empty());
    let config = loaded("[models.tiers]\nt1 = [\"groq/llama-3.3-70b\"]\n", &[("GROQ_API_KEY", "gsk"), ("OPENAI_API_KEY", "sk")]);
    assert_eq!(config.models.providers.len(), 1);
}

#[test]
fn providers_and_tiers_must_fit_together() {
    let file = "[models.providers.local]\nparallel = 2\n[models.tiers]\nt2 = [\"locl/x\", \"openai/gpt-4.1\"]\nt3 = [\"nameless\"]\n";
    let errors = refused(file, &[]);
    for part in [
        "teamroom.toml:1: models.providers.local.base_url: is missing",
        "teamroom.toml:4: models.tiers.t2: uses the provider locl",
        "teamroom.toml:5: models.tiers.t3: this list is not allowed",
        "OPENAI_API_KEY: is missing",
        "models.tiers.t1: is missing",
    ] {
        assert!(errors.iter().any(|error| error.contains(part)), "{part}: {errors:#?}");
    }
}
