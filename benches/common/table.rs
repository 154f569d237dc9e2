//! Tables for people.

/// Formats a figure with three significant digits.
pub(crate) fn short(figure: f64) -> String {
    let decimals = match figure {
        100.0.. => 0,
        10.0.. => 1,
        _ => 2,
    };
    format!("{figure:.decimals$}")
}

/// Prints a table; the first line has the titles.
pub(crate) fn print<const N: usize>(lines: &[[String; N]]) {
    let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max();
    let widths: Vec<usize> = (0..N).filter_map(width).collect();
    for (place, line) in lines.iter().enumerate() {
        let cells: Vec<String> =
            line.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        println!("| {} |", cells.join(" | "));
        if place == 0 {
            let rules: Vec<String> = widths.iter().map(|width| "-".repeat(*width)).collect();
            println!("| {} |", rules.join(" | "));
        }
    }
}
