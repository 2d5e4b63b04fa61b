//! Time zones by the names that people use.

use std::collections::HashMap;
use std::sync::LazyLock;

use chrono_tz::{TZ_VARIANTS, Tz};

/// A time zone by its name, or by the last part of its name if only one zone has it: "berlin". Ignores capitals and accepts spaces for underscores.
pub fn find_zone(name: &str) -> Option<Tz> {
    /// None: several zones have this name.
    static NAMES: LazyLock<HashMap<String, Option<Tz>>> = LazyLock::new(|| {
        let mut names = HashMap::new();
        for zone in TZ_VARIANTS {
            let whole = zone.name().to_lowercase();
            if let Some((_, city)) = whole.rsplit_once('/') {
                names.entry(city.to_owned()).and_modify(|found| *found = None).or_insert(Some(zone));
            }
        }
        names.extend(TZ_VARIANTS.iter().map(|zone| (zone.name().to_lowercase(), Some(*zone))));
        names
    });
    *NAMES.get(&name.trim().replace(' ', "_").to_lowercase())?
}

/// Whether names of zones begin with this: `America`.
pub(super) fn is_area(word: &str) -> bool {
    TZ_VARIANTS.iter().filter_map(|zone| zone.name().split_once('/')).any(|(area, _)| area.eq_ignore_ascii_case(word))
}

/// A zone that is whole hours ahead of UTC. The names of these zones have the opposite sign.
pub(super) fn fixed_zone(hours: i32) -> Option<Tz> {
    match hours {
        0 => Some(Tz::UTC),
        hours => format!("Etc/GMT{:+}", -hours).parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zone_is_found_by_its_name_or_its_city() {
        for (name, zone) in [
            ("berlin", Some(Tz::Europe__Berlin)),
            ("New York", Some(Tz::America__New_York)),
            ("europe/berlin", Some(Tz::Europe__Berlin)),
            ("Asia/Tokyo", Some(Tz::Asia__Tokyo)),
            ("america/argentina/buenos_aires", Some(Tz::America__Argentina__Buenos_Aires)),
            ("Port-au-Prince", Some(Tz::America__PortauPrince)),
            ("utc", Some(Tz::UTC)),
            ("Mars/Base", None),
            ("", None),
        ] {
            assert_eq!(find_zone(name), zone, "{name}");
        }
        assert!(is_area("america") && !is_area("utc") && !is_area("lunch"));
        assert_eq!(fixed_zone(2), Some(Tz::Etc__GMTMinus2));
        assert_eq!(fixed_zone(99), None);
    }
}
