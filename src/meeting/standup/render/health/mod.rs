//! How standups fared lately, in words and as a picture (STAND-17).

mod chart;

pub use chart::draw_health;
