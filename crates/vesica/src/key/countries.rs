//! Telephone plans by country: what a national number needs to become an international one.
//!
//! A table of our own instead of a telephone library: a key needs the same text on both sides, not a judgement whether a number is
//! in service; libraries carry megabytes of rules that change monthly, and with them the meaning of a key. These facts
//! (ITU-T E.164 country codes; trunk and international prefixes of the ITU dialling procedures) were read from public metadata of
//! July 2026 and change every few years; a change that moves a key is a new version of `e164`.

use std::sync::LazyLock;

/// How one country writes its telephone numbers.
#[derive(Debug, PartialEq, Eq)]
pub struct Plan {
    /// ISO 3166-1 alpha-2 code (and `XK`, `AC`, `TA`).
    pub country: &'static str,
    /// Country code, without `+`.
    pub code: &'static str,
    /// Dialled before national numbers and no part of the international one; empty where there is none.
    pub trunk: &'static str,
    /// Dialled before international numbers, besides `00`, which is read everywhere.
    pub international: &'static str,
    /// Fewest digits of a national number. Where the trunk prefix may also start a number (`8` in Russia), it tells them apart.
    pub shortest: usize,
}

/// Countries alike in trunk prefix, international prefix and shortest number.
struct Group {
    trunk: &'static str,
    international: &'static str,
    shortest: usize,
    /// `CC code` pairs.
    countries: &'static str,
}

/// Country codes that belong to no country: freephone, satellite and other global services.
const GLOBAL: [&str; 9] = ["800", "808", "870", "878", "881", "882", "883", "888", "979"];

static PLANS: LazyLock<Vec<Plan>> = LazyLock::new(|| {
    let plans = GROUPS.iter().flat_map(|group| {
        group.countries.split(',').filter_map(move |pair| {
            let (country, code) = pair.trim().split_once(' ')?;
            Some(Plan { country, code, trunk: group.trunk, international: group.international, shortest: group.shortest })
        })
    });
    plans.collect()
});

impl Plan {
    /// The plan of a country, by its two letters in either case.
    pub fn of(country: &str) -> Option<&'static Self> {
        PLANS.iter().find(|plan| plan.country.eq_ignore_ascii_case(country))
    }

    /// Splits an international number (digits after `+`) into its country's plan and the national digits. Countries that share a
    /// code share trunk prefix and length. `None` for the plan means a global service; an unassigned code gives `None`.
    pub(crate) fn split(international: &str) -> Option<(Option<&'static Self>, &str)> {
        for length in 1..=3 {
            let code = international.get(..length)?;
            let plan = code.parse().ok().and_then(|code: usize| *BY_CODE.get(code)?);
            if let Some(plan) = plan.filter(|plan| plan.code == code) {
                return Some((Some(plan), &international[length..]));
            }
        }
        GLOBAL.iter().find_map(|code| international.strip_prefix(code)).map(|rest| (None, rest))
    }
}

/// A plan for each country code of one to three digits. No code is a prefix of another.
static BY_CODE: LazyLock<Vec<Option<&'static Plan>>> = LazyLock::new(|| {
    let mut plans = vec![None; 1000];
    for plan in PLANS.iter() {
        if let Some(slot) = plan.code.parse().ok().and_then(|code: usize| plans.get_mut(code)) {
            *slot = Some(plan);
        }
    }
    plans
});

static GROUPS: [Group; 18] = [
    Group {
        trunk: "",
        international: "",
        shortest: 4,
        countries: "AC 247, AD 376, AO 244, AW 297, BF 226, BH 973, BI 257, BJ 229, BN 673, BQ 599, BT 975, BW 267, BZ 501, CF 236, CG 242, \
            CI 225, CK 682, CL 56, CM 237, CR 506, CV 238, CW 599, CY 357, CZ 420, DJ 253, DK 45, EE 372, ES 34, FJ 679, FK 500, \
            FM 691, FO 298, GA 241, GI 350, GL 299, GM 220, GN 224, GQ 240, GR 30, GT 502, GW 245, HN 504, HT 509, IO 246, IS 354, \
            IT 39, KM 269, KW 965, LS 266, LU 352, LV 371, ML 223, MO 853, MR 222, MT 356, MV 960, MX 52, MZ 258, NC 687, NE 227, \
            NF 672, NI 505, NO 47, NR 674, NU 683, OM 968, PA 507, PF 689, PG 675, PL 48, PT 351, QA 974, SB 677, SC 248, SH 290, \
            SJ 47, SM 378, SN 221, SR 597, ST 239, SV 503, SZ 268, TA 290, TD 235, TG 228, TK 690, TL 670, TN 216, TO 676, TV 688, \
            UZ 998, VA 39, VU 678, WF 681, WS 685",
    },
    Group { trunk: "", international: "001", shortest: 4, countries: "GY 592, HK 852, SG 65" },
    Group { trunk: "", international: "011", shortest: 4, countries: "PW 680" },
    Group { trunk: "", international: "020", shortest: 4, countries: "MU 230" },
    Group { trunk: "", international: "810", shortest: 4, countries: "TJ 992" },
    Group {
        trunk: "0",
        international: "",
        shortest: 4,
        countries: "AE 971, AF 93, AL 355, AM 374, AR 54, AT 43, AX 358, AZ 994, BA 387, BD 880, BE 32, BG 359, BL 590, BO 591, BR 55, \
            CD 243, CH 41, CN 86, CO 57, DE 49, DZ 213, EC 593, EG 20, EH 212, ER 291, ET 251, FI 358, FR 33, GB 44, GE 995, GF 594, \
            GG 44, GH 233, GP 590, HR 385, IE 353, IL 972, IM 44, IN 91, IQ 964, IR 98, JE 44, JO 962, KG 996, KI 686, KP 850, \
            LA 856, LB 961, LI 423, LK 94, LR 231, LT 370, LY 218, MA 212, MC 377, MD 373, ME 382, MF 590, MG 261, MK 389, MM 95, \
            MQ 596, MW 265, MY 60, NA 264, NL 31, NP 977, NZ 64, PE 51, PH 63, PK 92, PM 508, PS 970, PY 595, RE 262, RO 40, RS 381, \
            RW 250, SA 966, SD 249, SE 46, SI 386, SK 421, SL 232, SO 252, SS 211, SY 963, TR 90, TW 886, UA 380, UY 598, VE 58, \
            VN 84, XK 383, YE 967, YT 262, ZA 27, ZM 260, ZW 263",
    },
    Group { trunk: "0", international: "000", shortest: 4, countries: "KE 254, TZ 255, UG 256" },
    Group { trunk: "0", international: "001", shortest: 4, countries: "ID 62, KH 855, KR 82, MN 976, TH 66" },
    Group { trunk: "0", international: "0011", shortest: 4, countries: "AU 61, CC 61, CX 61" },
    Group { trunk: "0", international: "009", shortest: 4, countries: "NG 234" },
    Group { trunk: "0", international: "010", shortest: 4, countries: "JP 81" },
    Group { trunk: "0", international: "119", shortest: 4, countries: "CU 53" },
    Group { trunk: "06", international: "", shortest: 8, countries: "HU 36" },
    Group { trunk: "1", international: "011", shortest: 7, countries: "MH 692" },
    Group {
        trunk: "1",
        international: "011",
        shortest: 10,
        countries: "AG 1, AI 1, AS 1, BB 1, BM 1, BS 1, CA 1, DM 1, DO 1, GD 1, GU 1, JM 1, KN 1, KY 1, LC 1, MP 1, MS 1, PR 1, SX 1, TC 1, \
            TT 1, US 1, VC 1, VG 1, VI 1",
    },
    Group { trunk: "8", international: "810", shortest: 8, countries: "TM 993" },
    Group { trunk: "80", international: "810", shortest: 9, countries: "BY 375" },
    Group { trunk: "8", international: "810", shortest: 10, countries: "KZ 7, RU 7" },
];
