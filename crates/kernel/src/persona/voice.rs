use serde::Deserialize;

/// How a persona sounds. What its file leaves out follows from its slug, so that no two sound alike by default.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Voice {
    /// From 0 to 99; 50 is the voice's own.
    pub pitch: u8,
    /// Percent of the usual speed.
    pub speed: u16,
    /// A language tag: `en-gb`.
    pub accent: String,
    /// How it speaks, in words. For engines that take directions.
    pub tone: Option<String>,
    /// What it says when somebody wants to hear it.
    pub sample: Option<String>,
    /// The voice's name or id at the speech endpoint.
    pub name: Option<String>,
    /// Chooses among the voices of an engine where no name is given.
    pub seed: usize,
}

/// `voice:` of a persona file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct VoiceMatter {
    pitch: Option<u8>,
    speed: Option<u16>,
    /// The speed in words, as in files of earlier versions.
    pace: Option<String>,
    accent: Option<String>,
    tone: Option<String>,
    sample: Option<String>,
    name: Option<String>,
}

const ACCENTS: [&str; 4] = ["en-us", "en-gb", "en-gb-scotland", "en-gb-x-rp"];
const PITCHES: std::ops::RangeInclusive<u8> = 0..=99;
pub(super) const SPEEDS: std::ops::RangeInclusive<u16> = 50..=200;
/// The most characters of a text in `voice:`.
const TEXT: usize = 300;

impl Voice {
    /// The voice of somebody whose file says nothing about it: a person, an expert.
    pub fn of(slug: &str) -> Self {
        // FNV-1a. With this start value each built-in persona gets a different voice of an engine.
        let seed = slug.bytes().fold(128_u32, |sum, byte| (sum ^ u32::from(byte)).wrapping_mul(0x0100_0193)) as usize;
        Self {
            pitch: [38, 44, 50, 56, 62][seed / 7 % 5],
            speed: [94, 98, 102, 106][seed / 5 % 4],
            accent: ACCENTS[seed / 3 % ACCENTS.len()].to_owned(),
            tone: None,
            sample: None,
            name: None,
            seed,
        }
    }

    /// # Errors
    /// What is not allowed.
    pub(super) fn read(slug: &str, matter: VoiceMatter) -> Result<Self, String> {
        let default = Self::of(slug);
        let pitch = matter.pitch.unwrap_or(default.pitch);
        if !PITCHES.contains(&pitch) {
            return Err(format!("the pitch is {pitch}. It must be from 0 to 99; 50 is usual"));
        }
        let paced = matter.pace.as_deref().and_then(speed_of);
        let speed = matter.speed.or(paced).unwrap_or(default.speed);
        if !SPEEDS.contains(&speed) {
            return Err(format!("the speed is {speed}. It must be from {} to {} percent", SPEEDS.start(), SPEEDS.end()));
        }
        let accent = matter.accent.unwrap_or(default.accent);
        if accent.is_empty() || accent.len() > 32 || !accent.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') {
            return Err(format!("the accent \"{accent}\" is not a language tag such as en-gb"));
        }
        for text in [&matter.tone, &matter.sample, &matter.name].into_iter().flatten() {
            if text.trim().is_empty() || text.chars().count() > TEXT {
                return Err(format!("a text in it is empty or longer than {TEXT} characters"));
            }
        }
        // It becomes a part of an address.
        if let Some(name) =
            matter.name.as_ref().filter(|name| !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte)))
        {
            return Err(format!("the name \"{name}\" is not that of a voice. Names are of letters, digits, - and _"));
        }
        Ok(Self { pitch, speed, accent, tone: matter.tone, sample: matter.sample, name: matter.name, seed: default.seed })
    }
}

fn speed_of(pace: &str) -> Option<u16> {
    match pace {
        "slow" => Some(88),
        "measured" => Some(94),
        "even" => Some(100),
        "quick" => Some(112),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_file_leaves_out_follows_from_the_slug() {
        let matter = VoiceMatter { speed: Some(120), ..VoiceMatter::default() };
        let voice = Voice::read("vince", matter).expect("a voice");
        assert_eq!(voice, Voice { speed: 120, ..Voice::of("vince") });
        let quick = VoiceMatter { pace: Some("quick".into()), ..VoiceMatter::default() };
        assert_eq!(Voice::read("vince", quick).expect("a voice").speed, 112);
    }

    #[test]
    fn the_built_in_personas_share_no_voice_of_an_engine() {
        let seeds = crate::persona::load::BUILT_IN.map(|(name, _)| Voice::of(name.trim_end_matches(".md")).seed);
        // As many voices as the engines have.
        for voices in [9, 10] {
            let chosen: std::collections::BTreeSet<usize> = seeds.iter().map(|seed| seed % voices).collect();
            assert_eq!(chosen.len(), seeds.len(), "of {voices}");
        }
    }

    #[test]
    fn values_that_no_engine_takes_are_refused() {
        let read = |matter| Voice::read("vince", matter).expect_err("a refusal");
        assert!(read(VoiceMatter { pitch: Some(100), ..VoiceMatter::default() }).contains("pitch"));
        assert!(read(VoiceMatter { speed: Some(20), ..VoiceMatter::default() }).contains("speed"));
        assert!(read(VoiceMatter { accent: Some("--help me".into()), ..VoiceMatter::default() }).contains("language tag"));
        assert!(read(VoiceMatter { name: Some("../x".into()), ..VoiceMatter::default() }).contains("voice"));
        assert!(read(VoiceMatter { sample: Some(" ".into()), ..VoiceMatter::default() }).contains("empty"));
    }
}
