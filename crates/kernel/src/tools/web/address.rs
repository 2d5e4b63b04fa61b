//! Decides which IP addresses are public (TOOL-3), from IANA's registries. For names see `ssrf_guard`.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use reqwest::Url;

/// From IANA's registry of special-purpose IPv4 addresses, and two addresses of cloud metadata services that look public.
const IPV4_INSIDE: [([u8; 4], u32, &str); 17] = [
    ([0, 0, 0, 0], 8, "means this machine"),
    ([10, 0, 0, 0], 8, "is private"),
    ([100, 64, 0, 0], 10, "is shared inside a provider's network"),
    ([127, 0, 0, 0], 8, "is this machine"),
    ([168, 63, 129, 16], 32, "is a cloud's own service"),
    ([169, 254, 0, 0], 16, "is link-local, where metadata services are"),
    ([172, 16, 0, 0], 12, "is private"),
    ([192, 0, 0, 0], 24, "is reserved"),
    ([192, 0, 2, 0], 24, "is for documentation"),
    ([192, 31, 196, 0], 24, "is reserved"),
    ([192, 88, 99, 0], 24, "is reserved"),
    ([192, 168, 0, 0], 16, "is private"),
    ([198, 18, 0, 0], 15, "is for benchmarks"),
    ([198, 51, 100, 0], 24, "is for documentation"),
    ([203, 0, 113, 0], 24, "is for documentation"),
    ([224, 0, 0, 0], 4, "is for multicast"),
    ([240, 0, 0, 0], 4, "is reserved"),
];

/// From IANA's registry of special-purpose IPv6 addresses, those inside `2000::/3`. Everything outside of it is not public.
const IPV6_INSIDE: [([u16; 8], u32, &str); 4] = [
    ([0x2001, 0, 0, 0, 0, 0, 0, 0], 23, "is reserved"),
    ([0x2001, 0xdb8, 0, 0, 0, 0, 0, 0], 32, "is for documentation"),
    ([0x3fff, 0, 0, 0, 0, 0, 0, 0], 20, "is for documentation"),
    ([0x2620, 0x4f, 0x8000, 0, 0, 0, 0, 0], 48, "is reserved"),
];

/// Why an address is not public, to follow the words "the address". None if it is public.
pub(super) fn why_inside(address: IpAddr) -> Option<&'static str> {
    match address {
        IpAddr::V4(address) => why_inside_v4(address),
        IpAddr::V6(address) => why_inside_v6(address),
    }
}

fn why_inside_v4(address: Ipv4Addr) -> Option<&'static str> {
    let within = |network: [u8; 4], bits: u32| (address.to_bits() ^ Ipv4Addr::from(network).to_bits()).leading_zeros() >= bits;
    IPV4_INSIDE.iter().find(|(network, bits, _)| within(*network, *bits)).map(|(_, _, why)| *why)
}

fn why_inside_v6(address: Ipv6Addr) -> Option<&'static str> {
    if address.is_loopback() || address.is_unspecified() {
        return Some("is this machine");
    }
    if let Some(inner) = list_embedded(address) {
        return inner.into_iter().find_map(why_inside_v4);
    }
    let within = |network: [u16; 8], bits: u32| (address.to_bits() ^ Ipv6Addr::from(network).to_bits()).leading_zeros() >= bits;
    if let Some((_, _, why)) = IPV6_INSIDE.iter().find(|(network, bits, _)| within(*network, *bits)) {
        return Some(why);
    }
    match address.segments()[0] {
        // The interface part may be an ISATAP address, which leads to an IPv4 address in any network.
        0x2000..=0x3fff => find_isatap(address).and_then(why_inside_v4),
        0xfe80..=0xfebf => Some("is link-local"),
        0xfc00..=0xfdff => Some("is private"),
        0xff00.. => Some("is for multicast"),
        _ => Some("is reserved"),
    }
}

/// The IPv4 addresses embedded in an IPv6 address, in every known format.
fn list_embedded(address: Ipv6Addr) -> Option<Vec<Ipv4Addr>> {
    let parts = address.segments();
    let v4 = |high: u16, low: u16| Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low));
    let last = v4(parts[6], parts[7]);
    match parts {
        // Mapped, "compatible", translated (RFC 2765) and NAT64.
        [0, 0, 0, 0, 0, 0xffff | 0, _, _] | [0, 0, 0, 0, 0xffff, 0, _, _] | [0x64, 0xff9b, 0, 0, 0, 0, _, _] => Some(vec![last]),
        // 6to4.
        [0x2002, high, low, ..] => Some(vec![v4(high, low)]),
        // Teredo: the server, and the client with all bits inverted.
        [0x2001, 0, high, low, ..] => Some(vec![v4(high, low), v4(!parts[6], !parts[7])]),
        _ => None,
    }
}

fn find_isatap(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let parts = address.segments();
    matches!(parts[4..6], [0 | 0x200, 0x5efe]).then(|| Ipv4Addr::from_bits(u32::from(parts[6]) << 16 | u32::from(parts[7])))
}

/// Normalises an address for comparison: parsed like in a browser, without the fragment. None if it is not a web address.
pub fn normalize(address: &str) -> Option<String> {
    let mut url = Url::parse(address.trim()).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host())?;
    url.set_fragment(None);
    Some(url.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_range_is_inside_from_its_first_address_to_its_last() {
        for (first, last) in [
            ("0.0.0.0", "0.255.255.255"),
            ("10.0.0.0", "10.255.255.255"),
            ("100.64.0.0", "100.127.255.255"),
            ("127.0.0.0", "127.255.255.255"),
            ("168.63.129.16", "168.63.129.16"),
            ("169.254.0.0", "169.254.255.255"),
            ("172.16.0.0", "172.31.255.255"),
            ("192.0.0.0", "192.0.0.255"),
            ("192.0.2.0", "192.0.2.255"),
            ("192.168.0.0", "192.168.255.255"),
            ("198.18.0.0", "198.19.255.255"),
            ("198.51.100.0", "198.51.100.255"),
            ("203.0.113.0", "203.0.113.255"),
            ("224.0.0.0", "255.255.255.255"),
        ] {
            let bits = |text: &str| text.parse::<Ipv4Addr>().unwrap().to_bits();
            let is_inside = |bits: u32| why_inside(Ipv4Addr::from_bits(bits).into()).is_some();
            assert!(is_inside(bits(first)) && is_inside(bits(last)), "{first}");
            assert!(bits(first) == 0 || !is_inside(bits(first) - 1), "before {first}");
            // 192.0.0.0/24 and 224.0.0.0/3 are adjacent to other ranges.
            assert!(bits(last) == u32::MAX || first.starts_with("192.0.0") || !is_inside(bits(last) + 1), "after {last}");
        }
    }

    #[test]
    fn an_address_inside_another_is_judged_by_itself() {
        for (form, public) in [
            ("::ffff:127.0.0.1", false),
            ("::ffff:169.254.169.254", false),
            ("::ffff:8.8.8.8", true),
            ("::127.0.0.1", false),
            ("::ffff:0:10.0.0.1", false),
            ("64:ff9b::a9fe:a9fe", false),
            ("64:ff9b::8.8.8.8", true),
            ("64:ff9b:1::8.8.8.8", false),
            ("2002:7f00:1::", false),
            ("2002:0808:0808::1", true),
            ("2001:0:808:808::f5ff:fffe", false),
            ("2001:0:7f00:1::f7f7:f7f7", false),
            ("2a00:1450:4001:80e::5efe:7f00:1", false),
            ("2a00:1450:4001:80e:200:5efe:8.8.8.8", true),
            ("fd00::5efe:8.8.8.8", false),
            ("2001:db8::5efe:8.8.8.8", false),
        ] {
            assert_eq!(why_inside(form.parse().unwrap()).is_none(), public, "{form}");
        }
    }

    #[test]
    fn only_what_is_assigned_is_public() {
        for inside in [
            "::",
            "::1",
            "fe80::1",
            "febf::1",
            "fc00::1",
            "fd00:ec2::254",
            "fec0::1",
            "ff02::1",
            "100::1",
            "2001:2::1",
            "2001:db8::1",
            "2001:20::1",
            "3fff::1",
            "5f00::1",
            "4000::1",
            "1::1",
        ] {
            assert!(why_inside(inside.parse().unwrap()).is_some(), "{inside}");
        }
        for public in
            ["2606:4700:4700::1111", "2a00:1450:4001:80e::200e", "2001:4860:4860::8888", "1.1.1.1", "192.0.1.1", "223.255.255.255"]
        {
            assert_eq!(why_inside(public.parse().unwrap()), None, "{public}");
        }
    }

    #[test]
    fn addresses_are_compared_as_browsers_read_them() {
        for (written, normal) in [
            (" HTTPS://Example.ORG:443/a/../b?q=ä#part ", Some("https://example.org/b?q=%C3%A4")),
            ("http://2130706433", Some("http://127.0.0.1/")),
            ("http://ex%61mple.org", Some("http://example.org/")),
            ("mailto:a@example.org", None),
            ("file:///etc/passwd", None),
            ("example.org", None),
        ] {
            assert_eq!(normalize(written).as_deref(), normal, "{written}");
        }
    }
}
