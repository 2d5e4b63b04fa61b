use std::time::Duration;

/// A section of `teamroom.toml` as a table: one line for each key, with its type, its default, what is allowed and what it is for.
/// Makes the struct, its `Default` and `read`, which also declares the keys for the default file and `.env.example`.
///
/// ```text
/// key: Type = default, "What it is for.";
/// key: Type = default, in 1..=20, "A number or a time within limits.";
/// key: Type = default, only "what is allowed", |value| is_allowed(value), "Any other check.";
/// key: Type = default, by read_key;       // A function reads it: it is more than one key, or not called like the field.
/// key: Type = default, table Type::read;  // The same, below a heading of its own: `[key]`.
/// key: Type = default;                    // No key: filled in by the code that reads the section.
/// ```
#[macro_export]
macro_rules! settings {
    ($(#[$about_section:meta])* $visibility:vis struct $section:ident {$(
        $(#[$about_key:meta])*
        $key:ident: $type:ty = $default:expr
            $(, in $range:expr)? $(, only $allowed:expr, $fits:expr)? $(, by $reader:path)? $(, table $table:path)? $(, $about:literal)?;
    )+}) => {
        $(#[$about_section])*
        $visibility struct $section {
            $($(#[doc = $about])? $(#[$about_key])* pub $key: $type,)+
        }

        impl Default for $section {
            fn default() -> Self {
                Self { $($key: $default,)+ }
            }
        }

        impl $section {
            pub fn read(section: &mut $crate::config::Section<'_>) -> Self {
                let default = Self::default();
                Self {
                    $($key: $crate::settings!(
                        @read section, stringify!($key), default.$key
                            $(, in $range)? $(, only $allowed, $fits)? $(, by $reader)? $(, table $table)? $(, $about)?
                    ),)+
                }
            }
        }
    };
    (@read $section:ident, $key:expr, $default:expr, in $range:expr, $about:literal) => {
        $section.read_within($key, $default, $range, $about)
    };
    (@read $section:ident, $key:expr, $default:expr, only $allowed:expr, $fits:expr, $about:literal) => {
        $section.read_where($key, $default, &$allowed, $about, $fits)
    };
    (@read $section:ident, $key:expr, $default:expr, by $reader:path) => { $reader($section) };
    (@read $section:ident, $key:expr, $default:expr, table $table:path) => { $table(&mut $section.section($key)) };
    (@read $section:ident, $key:expr, $default:expr, $about:literal) => { $section.read($key, $default, $about) };
    (@read $section:ident, $key:expr, $default:expr) => { $default };
}

pub use crate::settings;

pub const fn millis(number: u64) -> Duration {
    Duration::from_millis(number)
}

pub const fn secs(number: u64) -> Duration {
    Duration::from_secs(number)
}

pub const fn mins(number: u64) -> Duration {
    Duration::from_mins(number)
}

pub const fn hours(number: u64) -> Duration {
    Duration::from_hours(number)
}
