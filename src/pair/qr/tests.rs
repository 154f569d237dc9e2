//! A reader of QR codes, written from the standard, reads what is drawn.

use super::super::ROWS_BELOW;
use super::*;

const LINK: &str = "https://t.me/adas_gate_bot?start=K7QX2M9P";

/// Reads the modules back from what a terminal shows, without the margin; true is dark.
fn modules(drawn: &str) -> Vec<Vec<bool>> {
    let mut rows: Vec<Vec<bool>> = Vec::new();
    for line in drawn.lines() {
        let line = line.strip_prefix(COLOURS).unwrap().strip_suffix(PLAIN).unwrap();
        let half = |dark: [char; 2]| line.chars().map(|shown| dark.contains(&shown)).collect();
        rows.push(half(['█', '▀']));
        rows.push(half(['█', '▄']));
    }
    let margin = usize::try_from(MARGIN).unwrap();
    let size = rows[0].len() - 2 * margin;
    let inner = |row: &Vec<bool>| row[margin..margin + size].to_vec();
    assert!(rows.iter().all(|row| row.len() == size + 2 * margin));
    let outer: Vec<&Vec<bool>> = rows[..margin].iter().chain(&rows[margin + size..]).collect();
    assert!(outer.iter().all(|row| row.iter().all(|dark| !dark)), "the margin is light");
    rows[margin..margin + size].iter().map(inner).collect()
}

/// Whether a module of a code of version 3 belongs to a pattern or to the format.
fn is_fixed(row: usize, column: usize) -> bool {
    let ends = |at: usize| !(9..29 - 8).contains(&at);
    let in_finder = (row < 9 && ends(column)) || (column < 9 && ends(row));
    let in_alignment = (20..25).contains(&row) && (20..25).contains(&column);
    in_finder || in_alignment || row == 6 || column == 6
}

fn is_masked(mask: usize, row: usize, column: usize) -> bool {
    let (r, c) = (row, column);
    match mask {
        0 => (r + c) % 2 == 0,
        1 => r % 2 == 0,
        2 => c % 3 == 0,
        3 => (r + c) % 3 == 0,
        4 => (r / 2 + c / 3) % 2 == 0,
        5 => (r * c) % 2 + (r * c) % 3 == 0,
        6 => ((r * c) % 2 + (r * c) % 3) % 2 == 0,
        _ => ((r + c) % 2 + (r * c) % 3) % 2 == 0,
    }
}

/// Reads a code of version 3 and level L or M, as the standard describes it and with no code of the
/// library's: format, mask, zigzag, one block, one segment of bytes.
fn decode(modules: &[Vec<bool>]) -> String {
    assert_eq!(modules.len(), 29);
    let format = [0, 1, 2, 3, 4].map(|column| modules[8][column]);
    let pattern = [true, false, true, false, true];
    let bit = |at: usize| usize::from(format[at] != pattern[at]);
    assert_eq!(bit(0), 0, "level L or M, which have one block");
    let mask = bit(2) * 4 + bit(3) * 2 + bit(4);
    let mut bits = Vec::new();
    let columns = (0..29).rev().filter(|column| *column != 6).collect::<Vec<usize>>();
    for (number, pair) in columns.chunks(2).enumerate() {
        for step in 0..29 {
            let row = if number % 2 == 0 { 28 - step } else { step };
            for &column in pair {
                if !is_fixed(row, column) {
                    bits.push(modules[row][column] != is_masked(mask, row, column));
                }
            }
        }
    }
    let byte = |at: usize, length: usize| {
        bits[at..at + length].iter().fold(0_usize, |all, bit| all * 2 + usize::from(*bit))
    };
    assert_eq!(byte(0, 4), 4, "a segment of bytes");
    let length = byte(4, 8);
    let bytes = (0..length).map(|at| u8::try_from(byte(12 + 8 * at, 8)).unwrap()).collect();
    String::from_utf8(bytes).unwrap()
}

#[test]
fn a_reader_finds_the_link_in_the_drawing() {
    let drawn = QrDrawing::from_text(LINK).unwrap().drawn;
    assert_eq!(decode(&modules(&drawn)), LINK);
}

/// Both colours are set, so that it is dark on light on any terminal.
#[test]
fn the_colours_of_the_terminal_do_not_matter() {
    for line in QrDrawing::from_text(LINK).unwrap().drawn.lines() {
        assert!(line.starts_with(COLOURS) && line.ends_with(PLAIN));
    }
    assert!(COLOURS.contains("38;5;") && COLOURS.contains("48;5;"));
}

#[test]
fn it_fits_where_all_of_it_stays_on_the_screen() {
    // 29 modules and a margin of 2 on each side: 33 columns and 17 rows.
    let fits = |columns, rows| QrDrawing::from_text(LINK).unwrap().fits(columns, rows, 5);
    assert!(fits(33, 22));
    assert!(!fits(32, 22) && !fits(33, 21) && !fits(0, 0));
    assert!(QrDrawing::from_text(&"x".repeat(5000)).is_none());
}

/// The name of a bot has at most 32 characters.
#[test]
fn every_link_to_a_bot_fits_an_ordinary_terminal() {
    let longest = format!("https://t.me/{}?start=K7QX2M9P", "b".repeat(32));
    assert!(QrDrawing::from_text(&longest).unwrap().fits(80, 24, ROWS_BELOW));
}
