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
