/// Sound of one channel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sound {
    /// Samples per second.
    pub rate: u32,
    pub samples: Vec<i16>,
}

const RATES: std::ops::RangeInclusive<u32> = 8_000..=96_000;

/// Parts of 20 ms, in which the level of speech is measured.
const FRAMES_PER_SECOND: u32 = 50;
/// The level of what is heard: -50 dB of full scale. Microphones are quieter in a quiet room, and speech is at -35 dB or more.
const AUDIBLE: f64 = 104.0;
/// The shortest word has this many frames.
const HEARD_FRAMES: usize = 5;
/// Shorter sounds are not judged by how steady they are.
const JUDGED_FRAMES: usize = 25;
/// By how much loud parts of speech are louder than quiet ones, at the least. Noise has 1.2.
const STEADY: f64 = 1.5;

impl Sound {
    /// From samples of 16 bits.
    ///
    /// # Errors
    /// It holds none.
    pub(super) fn from_samples(bytes: &[u8], rate: u32) -> Result<Self, String> {
        let samples: Vec<i16> = bytes.chunks_exact(2).map(|pair| i16::from_le_bytes([pair[0], pair[1]])).collect();
        if samples.is_empty() { Err("it sent no sound".to_owned()) } else { Ok(Self { rate, samples }) }
    }

    /// From a WAV file of 16-bit samples. A writer that does not know the length yet gives a wrong one, so the data end with the file.
    ///
    /// # Errors
    /// It is none, or one of another kind.
    pub fn from_wav(bytes: &[u8]) -> Result<Self, String> {
        let is_wav = bytes.get(..4) == Some(b"RIFF") && bytes.get(8..12) == Some(b"WAVE");
        if !is_wav {
            return Err("it sent no WAV sound".to_owned());
        }
        let (mut rest, mut format) = (&bytes[12..], None);
        while let Some((head, after)) = rest.split_at_checked(8) {
            let announced = u32::from_le_bytes([head[4], head[5], head[6], head[7]]) as usize;
            let data = &after[..announced.min(after.len())];
            match &head[..4] {
                b"fmt " => format = Some(read_format(data)?),
                b"data" => {
                    let (channels, rate) = format.ok_or("its WAV sound has no format")?;
                    let sound = Self::from_samples(data, rate)?;
                    return Ok(sound.mix(channels));
                }
                _ => {}
            }
            // Chunks begin at even places.
            rest = after.get(announced.saturating_add(announced % 2)..).unwrap_or_default();
        }
        Err("its WAV sound has no data".to_owned())
    }

    /// The sound as a WAV file.
    pub fn to_wav(&self) -> Vec<u8> {
        let data: Vec<u8> = self.samples.iter().flat_map(|sample| sample.to_le_bytes()).collect();
        let length = u32::try_from(data.len()).unwrap_or(u32::MAX);
        let mut bytes = b"RIFF".to_vec();
        bytes.extend(length.saturating_add(36).to_le_bytes());
        bytes.extend(b"WAVEfmt \x10\0\0\0\x01\0\x01\0");
        bytes.extend(self.rate.to_le_bytes());
        bytes.extend(self.rate.saturating_mul(2).to_le_bytes());
        bytes.extend(b"\x02\0\x10\0data");
        bytes.extend(length.to_le_bytes());
        bytes.extend(data);
        bytes
    }

    /// Whether somebody may speak: something is heard for a moment, and it is not as steady as noise. Speech is far from steady, because it has
    /// pauses between its words and syllables.
    pub fn may_be_speech(&self) -> bool {
        let frame = usize::try_from(self.rate / FRAMES_PER_SECOND).unwrap_or(1).max(1);
        let mut levels: Vec<f64> = self.samples.chunks(frame).map(level).collect();
        levels.sort_by(f64::total_cmp);
        if levels.iter().filter(|level| **level >= AUDIBLE).count() < HEARD_FRAMES {
            return false;
        }
        // One short word in a long recording is enough.
        let (quiet, loud) = (levels[levels.len() / 10], levels[levels.len() - HEARD_FRAMES]);
        levels.len() < JUDGED_FRAMES || loud >= quiet * STEADY
    }

    /// Mixes the channels to their mean.
    fn mix(self, channels: usize) -> Self {
        if channels == 1 {
            return self;
        }
        let mean = |frame: &[i16]| {
            let sum: i32 = frame.iter().map(|sample| i32::from(*sample)).sum();
            i16::try_from(sum / i32::try_from(frame.len()).unwrap_or(i32::MAX)).unwrap_or_default()
        };
        Self { samples: self.samples.chunks(channels).map(mean).collect(), ..self }
    }
}

/// How loud a part of a sound is: the root of the mean square, without a constant offset, which nobody hears.
fn level(samples: &[i16]) -> f64 {
    let count = f64::from(u32::try_from(samples.len()).unwrap_or(u32::MAX));
    let mean = samples.iter().map(|sample| f64::from(*sample)).sum::<f64>() / count;
    (samples.iter().map(|sample| (f64::from(*sample) - mean).powi(2)).sum::<f64>() / count).sqrt()
}

/// Channels and rate.
fn read_format(data: &[u8]) -> Result<(usize, u32), String> {
    let Some(data) = data.get(..16) else { return Err("its WAV sound has no format".to_owned()) };
    let word = |at: usize| u16::from_le_bytes([data[at], data[at + 1]]);
    let rate = u32::from_le_bytes([data[4], data[5], data[6], data[7]]);
    let (kind, channels, bits) = (word(0), word(2), word(14));
    // 1: samples as they are; 0xFFFE: the same with more about them.
    if !matches!(kind, 1 | 0xFFFE) || bits != 16 || !(1..=2).contains(&channels) || !RATES.contains(&rate) {
        return Err(format!("its WAV sound is of a kind that is not read: {kind}, {bits} bits, {channels} channels, {rate} Hz"));
    }
    Ok((channels.into(), rate))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wav(channels: u16, bits: u16, announced: u32, samples: &[i16]) -> Vec<u8> {
        let mut bytes = b"RIFF\0\0\0\0WAVELIST\x03\0\0\0abc\0fmt \x10\0\0\0\x01\0".to_vec();
        bytes.extend(channels.to_le_bytes());
        bytes.extend(22_050_u32.to_le_bytes());
        bytes.extend([0; 6]);
        bytes.extend(bits.to_le_bytes());
        bytes.extend(b"data");
        bytes.extend(announced.to_le_bytes());
        bytes.extend(samples.iter().flat_map(|sample| sample.to_le_bytes()));
        bytes
    }

    #[test]
    fn a_file_is_read_whatever_length_it_announces() {
        let sound = Sound { rate: 22_050, samples: vec![1, -2, 300] };
        for announced in [6, u32::MAX, 0x7FFF_F000] {
            assert_eq!(Sound::from_wav(&wav(1, 16, announced, &sound.samples)).as_ref(), Ok(&sound));
        }
        assert_eq!(Sound::from_wav(&sound.to_wav()).as_ref(), Ok(&sound));
        assert_eq!(Sound::from_wav(&wav(2, 16, 8, &[10, 20, -10, -30])).unwrap().samples, [15, -20]);
    }

    /// Seconds of pseudo-random samples of a level by the time in frames.
    fn noise(seconds: u32, level: impl Fn(u32) -> i32) -> Sound {
        let mut state = 1_u32;
        let mut sample = |at: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let noise = i32::try_from(state >> 16).unwrap() - 32_768;
            i16::try_from(noise * level(at / 320) / 32_768).unwrap()
        };
        Sound { rate: 16_000, samples: (0..16_000 * seconds).map(&mut sample).collect() }
    }

    #[test]
    fn silence_and_steady_noise_are_no_speech() {
        for (what, sound, expected) in [
            ("silence", noise(2, |_| 0), false),
            ("a quiet room", noise(2, |_| 90), false),
            ("an offset", Sound { rate: 16_000, samples: vec![4000; 32_000] }, false),
            ("a fan", noise(3, |_| 2000), false),
            ("a fan for a minute", noise(60, |_| 2000), false),
            ("a click before a fan", noise(3, |frame| if frame == 40 { 20_000 } else { 2000 }), false),
            ("a click", noise(2, |frame| if frame == 40 { 20_000 } else { 20 }), false),
            ("words with pauses", noise(3, |frame| if frame % 20 < 12 { 6000 } else { 300 }), true),
            ("quiet words", noise(3, |frame| if frame % 20 < 12 { 700 } else { 60 }), true),
            ("words before a fan", noise(3, |frame| if frame % 20 < 12 { 6000 } else { 1500 }), true),
            ("few words before a fan", noise(20, |frame| if (500..575).contains(&frame) && frame % 20 < 12 { 6000 } else { 1500 }), true),
            ("one short word", noise(1, |frame| if (10..22).contains(&frame) { 5000 } else { 30 }), true),
            ("nothing at all", Sound { rate: 16_000, samples: Vec::new() }, false),
        ] {
            assert_eq!(sound.may_be_speech(), expected, "{what}");
        }
    }

    #[test]
    fn what_is_no_sound_is_refused_and_nothing_panics() {
        for bytes in
            [&b""[..], b"<html>", b"ID3\x04", b"RIFF\0\0\0\0WAVE", b"RIFF\0\0\0\0WAVEdata\x02\0\0\0ab", b"RIFF\0\0\0\0WAVEfmt \x02\0\0\0ab"]
        {
            assert!(Sound::from_wav(bytes).is_err(), "{bytes:?}");
        }
        assert!(Sound::from_wav(&wav(1, 24, 6, &[1, 2, 3])).unwrap_err().contains("24 bits"));
        assert!(Sound::from_wav(&wav(1, 16, 0, &[])).unwrap_err().contains("no sound"));
        let whole = wav(1, 16, 6, &[1, 2, 3]);
        for end in 0..whole.len() {
            let _ = Sound::from_wav(&whole[..end]);
        }
    }
}
