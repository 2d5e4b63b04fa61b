//! Ogg Opus: small, played by Discord and by every browser, and with chapters in its comments, which players of podcasts and audiobooks show.

use std::io::Cursor;
use std::time::Duration;

use kernel::llm::Sound;
use opus_pure::{Application, Error, MAX_PACKET_BYTES, OggOpusReader, OggOpusWriter, OpusEncoder, OpusHead, OpusTags};

use crate::features::voice::audio::{Audio, Track};

/// All sound is resampled to this rate, because a file has only one.
const RATE: u32 = 24_000;
/// Samples of a packet of 20 ms.
const PACKET: usize = 480;
const PACKET_LENGTH: Duration = Duration::from_millis(20);
/// Clear for speech: 2 kB a second.
const BITS_PER_SECOND: i32 = 16_000;
/// The pause between two speakers.
const PAUSE_PACKETS: u32 = 25;

/// Encodes a part as a file.
pub(super) fn encode(sound: &Sound) -> Result<Vec<u8>, Error> {
    let mut encoder = new_encoder()?;
    let mut writer = OggOpusWriter::new(Vec::new(), OpusHead::for_encoder(&encoder, RATE))?;
    let mut samples = resample(sound);
    // Silence at the end flushes what the encoder still holds.
    samples.resize((samples.len() + encoder.lookahead()).next_multiple_of(PACKET), 0.0);
    for packet in encode_packets(&mut encoder, &samples)? {
        writer.write_packet(&packet)?;
    }
    writer.finish()
}

/// One file of all tracks, with a chapter for each. A part that is damaged is an error.
pub(super) fn join(title: &str, tracks: &[Track]) -> Result<Audio, Error> {
    let mut encoder = new_encoder()?;
    let head = OpusHead::for_encoder(&encoder, RATE);
    let silence = encode_packets(&mut encoder, &[0.0; PACKET])?;
    let (mut packets, mut chapters) = (Vec::new(), Vec::new());
    for track in tracks {
        if !packets.is_empty() {
            packets.extend((0..PAUSE_PACKETS).flat_map(|_| silence.clone()));
        }
        chapters.push((length_of(packets.len()), track.name.clone()));
        for part in &track.parts {
            packets.extend(read_packets(part)?);
        }
    }
    let mut tags = OpusTags::new();
    tags.push("TITLE", title)?;
    for (number, (start, name)) in chapters.iter().enumerate() {
        tags.push(&format!("CHAPTER{number:03}"), &show(*start))?;
        tags.push(&format!("CHAPTER{number:03}NAME"), name)?;
    }
    let mut writer = OggOpusWriter::with_tags(Vec::new(), head, tags)?;
    for packet in &packets {
        writer.write_packet(packet)?;
    }
    Ok(Audio { bytes: writer.finish()?, length: length_of(packets.len()), chapters })
}

/// The packets of an encoded part.
pub(super) fn read_packets(part: &[u8]) -> Result<Vec<Vec<u8>>, Error> {
    OggOpusReader::new(Cursor::new(part))?.packets().map(|packet| Ok(packet?.data)).collect()
}

fn new_encoder() -> Result<OpusEncoder, Error> {
    let mut encoder = OpusEncoder::new(i32::try_from(RATE).unwrap_or(i32::MAX), 1, Application::Voip)?;
    encoder.bitrate_bps = BITS_PER_SECOND;
    Ok(encoder)
}

fn encode_packets(encoder: &mut OpusEncoder, samples: &[f32]) -> Result<Vec<Vec<u8>>, Error> {
    let mut buffer = vec![0; MAX_PACKET_BYTES];
    let mut encode = |samples: &[f32]| {
        let length = encoder.encode(samples, PACKET, &mut buffer)?;
        Ok(buffer[..length].to_vec())
    };
    samples.chunks_exact(PACKET).map(&mut encode).collect()
}

/// Resamples by linear interpolation, which is enough for speech.
#[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "minutes of sound, not years")]
fn resample(sound: &Sound) -> Vec<f32> {
    let at = |index: usize| sound.samples.get(index).map_or(0.0, |sample| f32::from(*sample) / 32_768.0);
    let step = f64::from(sound.rate) / f64::from(RATE);
    let count = (sound.samples.len() as f64 / step) as usize;
    let sample = |index: usize| {
        let place = index as f64 * step;
        let (before, share) = (at(place as usize), place.fract() as f32);
        before + (at(place as usize + 1) - before) * share
    };
    (0..count).map(sample).collect()
}

fn length_of(packets: usize) -> Duration {
    PACKET_LENGTH * u32::try_from(packets).unwrap_or(u32::MAX)
}

/// `00:01:02.345`
fn show(time: Duration) -> String {
    let (seconds, millis) = (time.as_secs(), time.subsec_millis());
    format!("{:02}:{:02}:{:02}.{millis:03}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tone(rate: u32, seconds: u32) -> Sound {
        let samples = (0..rate * seconds).map(|at| if at / 40 % 2 == 0 { 4000 } else { -4000 }).collect();
        Sound { rate, samples }
    }

    #[test]
    fn a_part_is_as_long_as_its_sound_at_any_rate() {
        for rate in [16_000, 22_050, 24_000, 44_100] {
            let part = encode(&tone(rate, 2)).expect("encoded");
            let length = length_of(read_packets(&part).expect("packets").len());
            assert!((2000..=2040).contains(&length.as_millis()), "{rate}: {length:?}");
        }
    }

    #[test]
    fn tracks_become_chapters_in_order() {
        let part = |seconds| encode(&tone(24_000, seconds)).expect("encoded");
        let track = |name: &str, parts| Track { name: name.to_owned(), parts };
        let audio = join("Standup", &[track("Vince", vec![part(1), part(1)]), track("Björn", vec![part(1)])]).expect("joined");
        let reader = OggOpusReader::new(Cursor::new(&audio.bytes)).expect("a file");
        let tag = |name: &str| reader.tags().get(name).map(str::to_owned);
        assert_eq!(tag("TITLE").as_deref(), Some("Standup"));
        assert_eq!((tag("CHAPTER000").as_deref(), tag("CHAPTER000NAME").as_deref()), (Some("00:00:00.000"), Some("Vince")));
        assert_eq!(tag("CHAPTER001NAME").as_deref(), Some("Björn"));
        let start = audio.chapters[1].0;
        assert!((2500..=2620).contains(&start.as_millis()), "{start:?}");
        assert_eq!(tag("CHAPTER001"), Some(show(start)));
        assert_eq!(length_of(read_packets(&audio.bytes).expect("packets").len()), audio.length);
    }

    #[test]
    fn a_damaged_part_is_an_error() {
        let part = encode(&tone(24_000, 1)).expect("encoded");
        let track = |bytes: &[u8]| Track { name: "Vince".to_owned(), parts: vec![bytes.to_vec()] };
        assert!(join("Standup", &[track(b"rubbish")]).is_err());
        assert!(join("Standup", &[track(&part[..40])]).is_err());
    }
}
