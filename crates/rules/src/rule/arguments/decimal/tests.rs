//! Decimal numbers are read and compared.

use super::*;

#[test]
fn numbers_are_compared_exactly() {
    let read = |text: &str| Decimal::from_text(text).unwrap_or_else(|| panic!("{text}"));
    let ascending = [
        "-1e30",
        "-100.5",
        "-100",
        "-0.001",
        "0",
        "1e-9",
        "0.5",
        "1",
        "9.99",
        "10",
        "99",
        "100",
        "100.00000000000000000001",
        "9007199254740992",
        "9007199254740993",
        "1e400",
    ];
    for (at, one) in ascending.iter().enumerate() {
        for (other_at, other) in ascending.iter().enumerate() {
            assert_eq!(read(one).cmp(&read(other)), at.cmp(&other_at), "{one} and {other}");
        }
    }
    for (one, other) in [("1.50", "1.5"), ("1e2", "100"), ("0.0", "-0"), ("1000e-1", "100.0")] {
        assert_eq!(read(one), read(other));
    }
    for text in ["", "-", "1.", ".5", "0x10", "1e", "NaN", "1 0", "--1", "1e99999999999999999999"] {
        assert_eq!(Decimal::from_text(text), None, "{text}");
    }
    assert_eq!(Decimal::read_loosely(" $1,000.00 "), Decimal::from_text("1000"));
    assert_eq!(Decimal::read_loosely("ten"), None);
}
