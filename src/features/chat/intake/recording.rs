//! What is in a recording, so that silence is not sent to a model that would make up words.

use kernel::llm::Sound;

#[cfg(feature = "sound")]
pub(super) use ogg::decode;

/// A build without sound knows nothing about it.
#[cfg(not(feature = "sound"))]
pub(super) fn decode(_: &[u8]) -> Option<Sound> {
    None
}

#[cfg(feature = "sound")]
mod ogg {
    use std::io::Cursor;

    use opus_pure::OggOpusReader;

    use super::Sound;

    /// Enough for how loud speech is.
    const RATE: u16 = 16_000;
    /// The limit of samples of a packet and a channel: 120 ms.
    const PACKET: usize = 1_920;
    /// Longer recordings are not looked into. Nobody holds a button for a minute without a word.
    const SAMPLES: usize = 960_000;

    /// The sound of a voice message. None: it is long, damaged, or another format than Ogg Opus.
    pub(in crate::features::chat::intake) fn decode(bytes: &[u8]) -> Option<Sound> {
        let mut reader = OggOpusReader::new(Cursor::new(bytes)).ok()?;
        let mut decoder = reader.head().decoder(RATE.into()).ok()?;
        let channels = decoder.channels();
        let (mut samples, mut buffer) = (Vec::new(), vec![0; PACKET * channels]);
        while let Some(packet) = reader.read_packet().ok()? {
            let length = decoder.decode_s16(&packet.data, PACKET, &mut buffer).ok()?;
            samples.extend(buffer.iter().step_by(channels).take(length));
            if samples.len() > SAMPLES {
                return None;
            }
        }
        (!samples.is_empty()).then(|| Sound { rate: RATE.into(), samples })
    }
}

#[cfg(all(test, feature = "sound"))]
mod tests {
    use opus_pure::{Application, MAX_PACKET_BYTES, OggOpusWriter, OpusEncoder, OpusHead};

    use super::decode;

    /// Two seconds of a voice message. `is_loud`: by the number of the packet, of 20 ms.
    fn record(is_loud: impl Fn(u16) -> bool) -> Vec<u8> {
        let mut encoder = OpusEncoder::new(24_000, 1, Application::Voip).expect("an encoder");
        let mut writer = OggOpusWriter::new(Vec::new(), OpusHead::for_encoder(&encoder, 24_000)).expect("a writer");
        for packet in 0..100 {
            let sample = |at: u16| if (at / 60).is_multiple_of(2) { 0.2 } else { -0.2 };
            let samples: Vec<f32> = (0..480).map(|at| if is_loud(packet) { sample(at) } else { 0.0 }).collect();
            let mut buffer = vec![0; MAX_PACKET_BYTES];
            let length = encoder.encode(&samples, 480, &mut buffer).expect("a packet");
            writer.write_packet(&buffer[..length]).expect("written");
        }
        writer.finish().expect("a file")
    }

    #[test]
    fn a_voice_message_is_silent_or_not() {
        let silent = decode(&record(|_| false)).expect("decoded");
        assert!(silent.samples.len() > 30_000 && !silent.may_be_speech());
        let spoken = decode(&record(|packet| packet % 20 < 12)).expect("decoded");
        assert!(spoken.may_be_speech());
        let whole = record(|_| true);
        for bytes in [&b"OggS"[..], &[0x4f; 4000], &whole[..whole.len() / 3]] {
            let _ = decode(bytes);
        }
        assert!(decode(&[0x4f; 4000]).is_none());
    }
}
