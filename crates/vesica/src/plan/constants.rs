//! The constants of the cost model. Made by `fit_plan` from the runs of 2026-11-21-plan-xeon-cascade-lake-2core and 2026-11-22-plan-xeon-cascade-lake-2core and 2026-11-22-plan-groups-xeon-cascade-lake-2core; do not edit.

use vesica_party::Security;

use super::model::{Costs, Surface, Work};

/// Ascending by id.
pub(super) const COSTS: &[Costs] = &[
    Costs {
        id: "czz24-cardinality",
        security: Security::SemiHonest,
        work: Work::Curve,
        micros: Surface { points: &[(6, 6316), (8, 19136), (10, 57481), (12, 179800), (14, 859574)], sender_share: 489 },
        round_trips: 101,
        items_a_round_trip: 0,
        sender_kib: Surface { points: &[(6, 10596), (8, 10704), (10, 10948), (12, 11036), (14, 13532)], sender_share: 261 },
        receiver_kib: Surface { points: &[(6, 10736), (8, 10740), (10, 10800), (12, 11404), (14, 13236)], sender_share: 508 },
        receiver_bytes: Surface { points: &[(6, 2058), (8, 8202), (10, 32788), (12, 131152), (14, 524608)], sender_share: 0 },
        extra_ps: 0,
    },
    Costs {
        id: "czz24-sum",
        security: Security::SemiHonest,
        work: Work::Curve,
        micros: Surface { points: &[(6, 45200), (8, 63175), (10, 125685), (12, 323375), (14, 1090702)], sender_share: 505 },
        round_trips: 236,
        items_a_round_trip: 667202,
        sender_kib: Surface { points: &[(6, 11728), (8, 11736), (10, 11912), (12, 12676), (14, 14552)], sender_share: 613 },
        receiver_kib: Surface { points: &[(6, 11564), (8, 11564), (10, 11564), (12, 12196), (14, 14520)], sender_share: 373 },
        receiver_bytes: Surface { points: &[(6, 5962), (8, 12400), (10, 38542), (12, 143040), (14, 561142)], sender_share: 0 },
        extra_ps: 846977,
    },
    Costs {
        id: "ecdh-ca-cgt12",
        security: Security::SemiHonest,
        work: Work::Curve,
        micros: Surface { points: &[(6, 4109), (8, 25013), (10, 68981), (12, 284461), (14, 932317)], sender_share: 185 },
        round_trips: 98,
        items_a_round_trip: 0,
        sender_kib: Surface { points: &[(6, 10768), (8, 10768), (10, 10864), (12, 11592), (14, 13720)], sender_share: 762 },
        receiver_kib: Surface { points: &[(6, 10744), (8, 10924), (10, 10924), (12, 11356), (14, 13088)], sender_share: 1 },
        receiver_bytes: Surface { points: &[(6, 2058), (8, 8202), (10, 32788), (12, 131152), (14, 524608)], sender_share: 0 },
        extra_ps: 0,
    },
    Costs {
        id: "ecdh-hfh99",
        security: Security::SemiHonest,
        work: Work::Curve,
        micros: Surface { points: &[(6, 6106), (8, 22011), (10, 81281), (12, 224649), (14, 779121)], sender_share: 232 },
        round_trips: 85,
        items_a_round_trip: 9906,
        sender_kib: Surface { points: &[(6, 10668), (8, 10668), (10, 10908), (12, 11084), (14, 12432)], sender_share: 928 },
        receiver_kib: Surface { points: &[(6, 10664), (8, 10788), (10, 10888), (12, 11368), (14, 12712)], sender_share: 206 },
        receiver_bytes: Surface { points: &[(6, 2058), (8, 8202), (10, 32788), (12, 131152), (14, 524608)], sender_share: 0 },
        extra_ps: 10802,
    },
    Costs {
        id: "rr22",
        security: Security::Malicious,
        work: Work::Vole,
        micros: Surface {
            points: &[(8, 43969), (10, 64483), (12, 64483), (14, 65161), (16, 104593), (18, 186377), (20, 727903), (22, 4264621)],
            sender_share: 185,
        },
        round_trips: 560,
        items_a_round_trip: 0,
        sender_kib: Surface {
            points: &[(8, 9388), (10, 10872), (12, 10872), (14, 12576), (16, 23420), (18, 51588), (20, 146420), (22, 529528)],
            sender_share: 524,
        },
        receiver_kib: Surface {
            points: &[(8, 9336), (10, 11136), (12, 11136), (14, 12880), (16, 24152), (18, 58840), (20, 169056), (22, 611360)],
            sender_share: 31,
        },
        receiver_bytes: Surface {
            points: &[(8, 96588), (10, 277207), (12, 277207), (14, 522080), (16, 1493028), (18, 5367681), (20, 20856943), (22, 82807302)],
            sender_share: 0,
        },
        extra_ps: 10802,
    },
    Costs {
        id: "rr22",
        security: Security::SemiHonest,
        work: Work::Vole,
        micros: Surface {
            points: &[(8, 29152), (10, 46891), (12, 46891), (14, 46891), (16, 70630), (18, 193011), (20, 730602), (22, 3351867)],
            sender_share: 238,
        },
        round_trips: 156,
        items_a_round_trip: 0,
        sender_kib: Surface {
            points: &[(8, 8912), (10, 10060), (12, 10136), (14, 11568), (16, 23144), (18, 48340), (20, 145264), (22, 522496)],
            sender_share: 549,
        },
        receiver_kib: Surface {
            points: &[(8, 9336), (10, 9824), (12, 10368), (14, 12420), (16, 23308), (18, 58816), (20, 160020), (22, 570680)],
            sender_share: 5,
        },
        receiver_bytes: Surface {
            points: &[(8, 48824), (10, 141961), (12, 141961), (14, 265948), (16, 752980), (18, 2691939), (20, 10438447), (22, 41416508)],
            sender_share: 0,
        },
        extra_ps: 10802,
    },
    Costs {
        id: "rs21",
        security: Security::Malicious,
        work: Work::Vole,
        micros: Surface {
            points: &[(8, 46094), (10, 61333), (12, 61333), (14, 63523), (16, 101610), (18, 233346), (20, 857057), (22, 4276438)],
            sender_share: 152,
        },
        round_trips: 548,
        items_a_round_trip: 0,
        sender_kib: Surface {
            points: &[(8, 9432), (10, 11128), (12, 11128), (14, 12500), (16, 22116), (18, 56808), (20, 148676), (22, 527636)],
            sender_share: 528,
        },
        receiver_kib: Surface {
            points: &[(8, 9224), (10, 10988), (12, 10988), (14, 13412), (16, 25568), (18, 56564), (20, 171200), (22, 611144)],
            sender_share: 43,
        },
        receiver_bytes: Surface {
            points: &[(8, 96588), (10, 277207), (12, 277207), (14, 522080), (16, 1493028), (18, 5367681), (20, 20856943), (22, 82807302)],
            sender_share: 0,
        },
        extra_ps: 10802,
    },
    Costs {
        id: "rs21",
        security: Security::SemiHonest,
        work: Work::Vole,
        micros: Surface {
            points: &[(8, 35339), (10, 56920), (12, 56920), (14, 59842), (16, 93703), (18, 221325), (20, 783870), (22, 3634878)],
            sender_share: 239,
        },
        round_trips: 179,
        items_a_round_trip: 0,
        sender_kib: Surface {
            points: &[(8, 9372), (10, 10836), (12, 10836), (14, 12656), (16, 23168), (18, 51000), (20, 148524), (22, 522068)],
            sender_share: 547,
        },
        receiver_kib: Surface {
            points: &[(8, 9508), (10, 11884), (12, 11884), (14, 13932), (16, 25884), (18, 60484), (20, 170828), (22, 614524)],
            sender_share: 3,
        },
        receiver_bytes: Surface {
            points: &[(8, 93652), (10, 273989), (12, 273989), (14, 518862), (16, 1489796), (18, 5364435), (20, 20853655), (22, 82803804)],
            sender_share: 0,
        },
        extra_ps: 10802,
    },
    Costs {
        id: "vesica-cardinality",
        security: Security::SemiHonest,
        work: Work::Vole,
        micros: Surface {
            points: &[(8, 197808), (10, 237052), (12, 250192), (14, 314252), (16, 766196), (18, 2616166)],
            sender_share: 192,
        },
        round_trips: 871,
        items_a_round_trip: 35624,
        sender_kib: Surface { points: &[(8, 10788), (10, 12988), (12, 17268), (14, 28572), (16, 81952), (18, 294932)], sender_share: 413 },
        receiver_kib: Surface { points: &[(8, 10804), (10, 13616), (12, 16556), (14, 27728), (16, 79300), (18, 284048)], sender_share: 0 },
        receiver_bytes: Surface {
            points: &[(8, 120349), (10, 366150), (12, 416601), (14, 897174), (16, 2500450), (18, 7879549)],
            sender_share: 0,
        },
        extra_ps: 0,
    },
    Costs {
        id: "vesica-circuit",
        security: Security::SemiHonest,
        work: Work::Vole,
        micros: Surface {
            points: &[(8, 139135), (10, 188415), (12, 200937), (14, 284920), (16, 724630), (18, 2501829)],
            sender_share: 158,
        },
        round_trips: 829,
        items_a_round_trip: 0,
        sender_kib: Surface { points: &[(8, 10624), (10, 13348), (12, 15400), (14, 27864), (16, 76620), (18, 281904)], sender_share: 424 },
        receiver_kib: Surface { points: &[(8, 10804), (10, 12916), (12, 16280), (14, 28168), (16, 75784), (18, 275884)], sender_share: 0 },
        receiver_bytes: Surface {
            points: &[(8, 115618), (10, 359632), (12, 402234), (14, 850475), (16, 2326454), (18, 7816387)],
            sender_share: 0,
        },
        extra_ps: 382009,
    },
    Costs {
        id: "vesica-join-and-compute",
        security: Security::SemiHonest,
        work: Work::Vole,
        micros: Surface {
            points: &[(8, 179664), (10, 253203), (12, 253203), (14, 374816), (16, 922115), (18, 3047848)],
            sender_share: 113,
        },
        round_trips: 1166,
        items_a_round_trip: 0,
        sender_kib: Surface { points: &[(8, 12116), (10, 14216), (12, 16940), (14, 29544), (16, 84192), (18, 301064)], sender_share: 425 },
        receiver_kib: Surface { points: &[(8, 14480), (10, 15668), (12, 19016), (14, 31168), (16, 84264), (18, 297028)], sender_share: 27 },
        receiver_bytes: Surface {
            points: &[(8, 328831), (10, 582158), (12, 664333), (14, 1276563), (16, 3391333), (18, 11051660)],
            sender_share: 0,
        },
        extra_ps: 1169450,
    },
    Costs {
        id: "vesica-sum",
        security: Security::SemiHonest,
        work: Work::Vole,
        micros: Surface {
            points: &[(8, 210436), (10, 236708), (12, 267120), (14, 361013), (16, 953613), (18, 3361388)],
            sender_share: 167,
        },
        round_trips: 954,
        items_a_round_trip: 0,
        sender_kib: Surface { points: &[(8, 10480), (10, 13204), (12, 15324), (14, 28540), (16, 81420), (18, 293584)], sender_share: 428 },
        receiver_kib: Surface { points: &[(8, 10520), (10, 12916), (12, 17000), (14, 29068), (16, 83856), (18, 294840)], sender_share: 28 },
        receiver_bytes: Surface {
            points: &[(8, 132119), (10, 385486), (12, 467581), (14, 1075660), (16, 3190836), (18, 10846607)],
            sender_share: 0,
        },
        extra_ps: 846977,
    },
    Costs {
        id: "vole-fast",
        security: Security::Malicious,
        work: Work::Vole,
        micros: Surface {
            points: &[(8, 47188), (10, 53385), (12, 53385), (14, 53385), (16, 93530), (18, 206151), (20, 744285), (22, 2884704)],
            sender_share: 239,
        },
        round_trips: 594,
        items_a_round_trip: 0,
        sender_kib: Surface {
            points: &[(8, 9428), (10, 11128), (12, 11128), (14, 12664), (16, 22752), (18, 51752), (20, 157744), (22, 526004)],
            sender_share: 515,
        },
        receiver_kib: Surface {
            points: &[(8, 9260), (10, 10888), (12, 10888), (14, 13428), (16, 25792), (18, 60612), (20, 168564), (22, 613084)],
            sender_share: 29,
        },
        receiver_bytes: Surface {
            points: &[(8, 96588), (10, 277207), (12, 277207), (14, 522080), (16, 1493028), (18, 5367667), (20, 20856901), (22, 82807120)],
            sender_share: 0,
        },
        extra_ps: 10802,
    },
    Costs {
        id: "vole-fast",
        security: Security::SemiHonest,
        work: Work::Vole,
        micros: Surface {
            points: &[(8, 30452), (10, 52393), (12, 52393), (14, 65170), (16, 88003), (18, 167233), (20, 691375), (22, 2976314)],
            sender_share: 243,
        },
        round_trips: 147,
        items_a_round_trip: 0,
        sender_kib: Surface {
            points: &[(8, 8920), (10, 9800), (12, 10200), (14, 11632), (16, 20452), (18, 48596), (20, 145708), (22, 531428)],
            sender_share: 541,
        },
        receiver_kib: Surface {
            points: &[(8, 9156), (10, 9820), (12, 10596), (14, 12488), (16, 22416), (18, 56592), (20, 155136), (22, 564396)],
            sender_share: 6,
        },
        receiver_bytes: Surface {
            points: &[(8, 48146), (10, 135009), (12, 135009), (14, 243253), (16, 682392), (18, 2490297), (20, 9954457), (22, 40771164)],
            sender_share: 0,
        },
        extra_ps: 10802,
    },
    Costs {
        id: "vole-lean",
        security: Security::Malicious,
        work: Work::Vole,
        micros: Surface {
            points: &[(8, 42814), (10, 67288), (12, 67288), (14, 79897), (16, 112439), (18, 276030), (20, 1138428), (22, 5047434)],
            sender_share: 318,
        },
        round_trips: 555,
        items_a_round_trip: 0,
        sender_kib: Surface {
            points: &[(8, 9156), (10, 10772), (12, 10772), (14, 12208), (16, 19040), (18, 49000), (20, 133248), (22, 485892)],
            sender_share: 574,
        },
        receiver_kib: Surface {
            points: &[(8, 9008), (10, 10572), (12, 10572), (14, 13076), (16, 29268), (18, 78280), (20, 234924), (22, 894876)],
            sender_share: 37,
        },
        receiver_bytes: Surface {
            points: &[(8, 84556), (10, 271079), (12, 271079), (14, 480240), (16, 1303706), (18, 4592941), (20, 17758891), (22, 70488738)],
            sender_share: 0,
        },
        extra_ps: 10802,
    },
    Costs {
        id: "vole-lean",
        security: Security::SemiHonest,
        work: Work::Vole,
        micros: Surface {
            points: &[(8, 31501), (10, 40461), (12, 40461), (14, 45798), (16, 97616), (18, 279626), (20, 1016173), (22, 4813480)],
            sender_share: 349,
        },
        round_trips: 167,
        items_a_round_trip: 0,
        sender_kib: Surface {
            points: &[(8, 8816), (10, 9612), (12, 9612), (14, 11052), (16, 18708), (18, 46936), (20, 128416), (22, 486896)],
            sender_share: 579,
        },
        receiver_kib: Surface {
            points: &[(8, 8688), (10, 9692), (12, 10188), (14, 12600), (16, 22444), (18, 61192), (20, 174016), (22, 655424)],
            sender_share: 16,
        },
        receiver_bytes: Surface {
            points: &[(8, 42108), (10, 132461), (12, 132461), (14, 225274), (16, 598069), (18, 2133146), (20, 8477980), (22, 34707809)],
            sender_share: 0,
        },
        extra_ps: 10802,
    },
];
