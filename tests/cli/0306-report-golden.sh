#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The whole mail of a campaign whose commits and values are always the same, line by line.
. "$(dirname "$0")/lib.sh"

measure_sh
new_repo repo
linear repo 1 2 10
git -C repo tag v1
linear repo 3 4 10
commit repo "mm: wait for each page" 25
linear repo 6 8 25
git -C repo tag v2
campaign test.ini
printf '[confirm]\nboots = 2\n' >>test.ini
k run test.ini
k report --format mail test.ini
# what was measured on what is another on each machine
sed '/^  host /,/^  range/{/^  range/!d}' out >got
cat >want <<'EOT'
From: YOUR NAME <YOUR@ADDRESS>
To: "Ada" <ada@example.org>
Cc: regressions@lists.linux.dev
Subject: [REGRESSION] test: ms since b552909bad7b ("mm: wait for each
 page")
MIME-Version: 1.0
Content-Type: text/plain; charset=UTF-8
Content-Transfer-Encoding: 8bit

[To be added before this is sent: maintainers and lists, as
scripts/get_maintainer.pl says; it did not run here: this tree has no
scripts/get_maintainer.pl]

kregress bisected a regression; fresh boots confirm the commit:

  commit b552909bad7be6877eb278e02d82182db5f68182
  Author: Ada <ada@example.org>
  Date:   2023-11-14 22:18:20 +0000

      mm: wait for each page

Against its parent:

  ms from 10 ms to 25 ms (+150%)

parent and culprit, fresh boots in turn (2 and 2 boots)

commit:
  e9219fa83740 ("c4")
  b552909bad7b ("mm: wait for each page")

e9219fa837401572 b552909bad7be6877eb278e02d8
---------------- ---------------------------
         %stddev     %change         %stddev
             \          |                \
          10 ±  0%     +150.0%          25 ±  0%  ms (ms)

good end and bad end (3 and 3 boots)

commit:
  7d059d9f2225 ("c2")
  aea4fd718882 ("c8")

7d059d9f2225e1ac aea4fd7188826ec2ca32ae3bf5b
---------------- ---------------------------
         %stddev     %change         %stddev
             \          |                \
          10 ±  0%     +150.0%          25 ±  0%  ms (ms)

(means over boots of the median over runs; spread from boot to boot)

Confirmed by 2 fresh boots of each, interleaved:
  parent            10 ms
  culprit           25 ms
  difference        +150%, +15 ms, p = 0 (exact)

Measured on
  range:           v1..v2

To reproduce: kregress run with this campaign

  [campaign]
  name = test
  good = v1
  bad = v2
  [build]
  type = none
  [target]
  type = command
  command = ./measure.sh
  [workload]
  metric = ms
  [measure]
  runs_per_boot = 1
  warmup_runs = 0
  [verdict]
  threshold = +20%
  better = lower
  [confirm]
  boots = 2

The search, as git bisect replay takes it (kregress log --git)

git bisect start
# bad: [aea4fd7188826ec2ca32ae3bf5bb1cca72b4f09c] c8
git bisect bad aea4fd7188826ec2ca32ae3bf5bb1cca72b4f09c
# good: [7d059d9f2225e1acf2c7bdea0c3bb55cdb8cfbb3] c2
git bisect good 7d059d9f2225e1acf2c7bdea0c3bb55cdb8cfbb3
# bad: [b552909bad7be6877eb278e02d82182db5f68182] mm: wait for each page
git bisect bad b552909bad7be6877eb278e02d82182db5f68182
# good: [e9219fa83740157273a9cc35a92476f81f6ac8c8] c4
git bisect good e9219fa83740157273a9cc35a92476f81f6ac8c8
# first bad commit: [b552909bad7be6877eb278e02d82182db5f68182] mm: wait...

If you fix this in a separate patch, please add

Reported-by: YOUR NAME <YOUR@ADDRESS>
Closes: https://lore.kernel.org/r/MESSAGE-ID-OF-THIS-MAIL
Fixes: b552909bad7b ("mm: wait for each page")

#regzbot introduced: b552909bad7b
EOT
diff want got >>err
ok $? "the mail is as it was"
done_testing
