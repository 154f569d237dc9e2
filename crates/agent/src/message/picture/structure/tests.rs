//! The structure of real pictures of 3 × 2 pixels, which common programs have written.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::*;

const PICTURES: [(&str, &str); 7] = [
    (
        "image/png",
        "iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAIAAAASFvFNAAAAEElEQVR4nGP8zwAFTDAGAwATKQED8NgHhAAAAABJ\
         RU5ErkJggg==",
    ),
    (
        "image/jpeg",
        "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAFA3PEY8MlBGQUZaVVBfeMiCeG5uePWvuZHI////////////////////////\
         ////////////////////////////wAALCAACAAMBAREA/8QAFAABAAAAAAAAAAAAAAAAAAAAA//EABQQAQAAAAAAAAAA\
         AAAAAAAAAAD/2gAIAQEAAD8AJ//Z",
    ),
    // Progressive.
    (
        "image/jpeg",
        "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAFA3PEY8MlBGQUZaVVBfeMiCeG5uePWvuZHI////////////////////////\
         ////////////////////////////wgALCAACAAMBAREA/8QAFAABAAAAAAAAAAAAAAAAAAAAAv/aAAgBAQAAAAEf/8QA\
         FBABAAAAAAAAAAAAAAAAAAAAAP/aAAgBAQABBQJ//8QAFBABAAAAAAAAAAAAAAAAAAAAAP/aAAgBAQAGPwJ//8QAFBAB\
         AAAAAAAAAAAAAAAAAAAAAP/aAAgBAQABPyF//9oACAEBAAAAEP8A/8QAFBABAAAAAAAAAAAAAAAAAAAAAP/aAAgBAQAB\
         PxB//9k=",
    ),
    // Of two pictures.
    (
        "image/gif",
        "R0lGODdhAwACAIEAAP8AAAAAAAAAAAAAACwAAAAAAwACAAAIBgABCBwYEAAh+QQBAAABACwAAAAAAwACAIEAAP8AAAAA\
         AAAAAAAIBgABCBwYEAA7",
    ),
    (
        "image/webp",
        "UklGRjQAAABXRUJQVlA4ICgAAABwAQCdASoDAAIACQCsJaACdAFAAAD+4cN4Nkim5H/wQX9Dn9beIAAA",
    ),
    // Without loss.
    ("image/webp", "UklGRhwAAABXRUJQVlA4TA8AAAAvAkAAAAcQ/Y/+ByKi/wEA"),
    // Transparent.
    (
        "image/webp",
        "UklGRlYAAABXRUJQVlA4WAoAAAAQAAAAAgAAAQAAQUxQSAcAAAAAgICAgICAAFZQOCAoAAAAcAEAnQEqAwACAAkArCWg\
         AnQBQAAA/uHDeDZIpuR/8EF/Q5/W3iAAAA==",
    ),
];

#[test]
fn a_whole_picture_is_read_and_no_beginning_of_it() {
    for (media_type, data) in PICTURES {
        let bytes = STANDARD.decode(data).unwrap();
        assert_eq!(
            parse_structure(&bytes),
            Some(PictureStructure { media_type, width: 3, height: 2 })
        );
        for end in 0..bytes.len() {
            assert_eq!(parse_structure(&bytes[..end]), None, "{media_type} up to {end}");
        }
        // Some programs write something of their own behind it.
        assert!(parse_structure(&[&bytes[..], b"more"].concat()).is_some(), "{media_type}");
    }
}

#[test]
fn a_changed_byte_of_a_png_is_noticed() {
    let bytes = STANDARD.decode(PICTURES[0].1).unwrap();
    for at in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 0x10;
        assert_eq!(parse_structure(&changed), None, "at {at}");
    }
}

#[test]
fn no_bytes_confuse_it() {
    for (_, data) in PICTURES {
        let bytes = STANDARD.decode(data).unwrap();
        for at in 0..bytes.len() {
            for value in [0, 0x7f, 0x80, 0xff] {
                let mut changed = bytes.clone();
                changed[at] = value;
                parse_structure(&changed);
            }
        }
    }
}
