//! Figures of papers with our runs in them, as SVG. Both axes are logarithmic: across, the items a
//! side; upwards, what is drawn. A plotting library would be a dependency of tests alone, and its
//! features would have the table readers compiled a second time.

use std::fmt::Write;

/// A line of a figure.
pub struct Curve {
    pub name: String,
    /// Of the paper, not measured by us.
    pub is_theirs: bool,
    /// `log2` of the items a side, and the figure there.
    pub points: Vec<(u32, f64)>,
}

const WIDTH: f64 = 900.0;
const HEIGHT: f64 = 520.0;
/// Where the axes are, and where the names of the curves begin.
const LEFT: f64 = 70.0;
const RIGHT: f64 = 620.0;
const TOP: f64 = 20.0;
const BOTTOM: f64 = 460.0;
/// Colours that people tell apart who see few colours (Wong, Nature Methods 2011); a second round
/// of them is drawn thinner.
pub const COLOURS: [&str; 7] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"];

/// Draws the curves, which have points.
pub fn draw(unit: &str, curves: &[Curve]) -> String {
    let points = || curves.iter().flat_map(|curve| &curve.points);
    let logs = || points().map(|&(log, _)| log);
    let (first, last) = (logs().min().expect("a point"), logs().max().expect("a point"));
    let decades = || points().map(|&(_, value)| value.log10());
    let (least, most) = (decades().fold(f64::MAX, f64::min).floor(), decades().fold(f64::MIN, f64::max).ceil());
    let across = |log: u32| LEFT + (RIGHT - LEFT) * f64::from(log - first) / f64::from((last - first).max(1));
    let upwards = |value: f64| BOTTOM - (BOTTOM - TOP) * (value.log10() - least) / (most - least).max(1.0);

    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" \
         font-size=\"13\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    for decade in least as i32..=most as i32 {
        let y = upwards(10f64.powi(decade));
        let _ = writeln!(text, "<path d=\"M{LEFT} {y:.1}H{RIGHT}\" stroke=\"#ddd\"/>");
        let digits = usize::try_from(-decade).unwrap_or(0);
        let label = format!("{:.digits$}", 10f64.powi(decade));
        let _ = writeln!(text, "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{label}</text>", LEFT - 8.0, y + 4.0);
    }
    for log in (first..=last).filter(|log| log % 2 == 0) {
        let x = across(log);
        let _ = writeln!(text, "<path d=\"M{x:.1} {TOP}V{BOTTOM}\" stroke=\"#ddd\"/>");
        let _ = writeln!(text, "<text x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\">2^{log}</text>", BOTTOM + 20.0);
    }
    let middle = (LEFT + RIGHT) / 2.0;
    let _ = writeln!(text, "<text x=\"{middle}\" y=\"{}\" text-anchor=\"middle\">items a side</text>", BOTTOM + 44.0);
    let turned = format!("transform=\"translate(18 {}) rotate(-90)\"", (TOP + BOTTOM) / 2.0);
    let _ = writeln!(text, "<text {turned} text-anchor=\"middle\">{unit}</text>");

    // Names stand in the order in which the curves end, from above.
    let end = |curve: &Curve| curve.points.last().map_or(0.0, |&(_, value)| value);
    let mut order: Vec<usize> = (0..curves.len()).collect();
    order.sort_by(|&a, &b| end(&curves[b]).total_cmp(&end(&curves[a])));
    for (row, at) in order.into_iter().enumerate() {
        let curve = &curves[at];
        let colour = COLOURS[at % COLOURS.len()];
        let width = if at < COLOURS.len() { 2.5 } else { 1.2 };
        let dashes = if curve.is_theirs { " stroke-dasharray=\"6 4\"" } else { "" };
        let style = format!("fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\"{dashes}");
        let path: Vec<String> =
            curve.points.iter().map(|&(log, value)| format!("{:.1} {:.1}", across(log), upwards(value))).collect();
        let _ = writeln!(text, "<path d=\"M{}\" {style}/>", path.join("L"));
        let y = TOP + 12.0 + 22.0 * row as f64;
        let _ = writeln!(text, "<path d=\"M{} {}h24\" {style}/>", RIGHT + 14.0, y - 4.0);
        let _ = writeln!(text, "<text x=\"{}\" y=\"{y}\">{}</text>", RIGHT + 44.0, curve.name);
    }
    text.push_str("</svg>\n");
    text
}

#[test]
fn a_figure_has_a_line_and_a_name_for_each_curve() {
    let curve =
        |name: &str, is_theirs, points: &[(u32, f64)]| Curve { name: name.into(), is_theirs, points: points.into() };
    let text =
        draw("s", &[curve("ours", false, &[(8, 0.1), (10, 1.0)]), curve("theirs", true, &[(8, 1.0), (10, 10.0)])]);
    // A tenth at the bottom, ten at the top, one in the middle.
    let middle = (TOP + BOTTOM) / 2.0;
    assert!(text.contains(&format!("M{LEFT:.1} {BOTTOM:.1}L{RIGHT:.1} {middle:.1}")), "{text}");
    assert!(text.contains(&format!("M{LEFT:.1} {middle:.1}L{RIGHT:.1} {TOP:.1}")), "{text}");
    assert_eq!((text.matches("dasharray").count(), text.matches(">theirs<").count()), (2, 1));
    let labels = [">0.1<", ">1<", ">10<", ">2^8<", ">2^10<"];
    assert!(labels.iter().all(|label| text.contains(label)), "{text}");
}
