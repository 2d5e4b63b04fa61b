//! `compress=zlib-stream`: one zlib stream for a whole connection, flushed after each payload.

use flate2::{Compress, Compression, FlushCompress};

pub(crate) struct ZlibStream(Compress);

impl ZlibStream {
    pub(crate) fn new() -> Self {
        Self(Compress::new(Compression::fast(), true))
    }

    /// The next chunk of the stream. It ends with the four bytes that mark a complete payload.
    pub(crate) fn push(&mut self, text: &str) -> Vec<u8> {
        let mut rest = text.as_bytes();
        let mut out = Vec::with_capacity(rest.len() / 2 + 64);
        loop {
            let before = self.0.total_in();
            self.0.compress_vec(rest, &mut out, FlushCompress::Sync).expect("compressing to memory has no way to fail");
            let taken = usize::try_from(self.0.total_in() - before).expect("no more was taken than was given");
            rest = &rest[taken..];
            // Free capacity means that the flush is complete.
            if rest.is_empty() && out.len() < out.capacity() {
                return out;
            }
            out.reserve(out.capacity().max(64));
        }
    }
}

#[cfg(test)]
mod tests {
    use flate2::{Decompress, FlushDecompress};

    use super::*;

    #[test]
    fn each_piece_is_flushed_and_belongs_to_one_stream() {
        let mut stream = ZlibStream::new();
        let mut reader = Decompress::new(true);
        for text in ["{}".to_owned(), "x".repeat(100_000), format!("{:?}", (0..9_999).collect::<Vec<_>>())] {
            let piece = stream.push(&text);
            assert!(piece.ends_with(&[0, 0, 0xff, 0xff]));
            let mut plain = Vec::with_capacity(text.len() + 16);
            reader.decompress_vec(&piece, &mut plain, FlushDecompress::Sync).expect("valid zlib");
            assert_eq!(plain, text.as_bytes());
        }
    }
}
