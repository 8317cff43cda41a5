package formats

import (
	"testing"

	"github.com/recountdb/recount/languages/resolve"
	"github.com/recountdb/recount/languages/resolvetest"
)

const terraformFiles = `
-- main.tf --
module "net" {
  source = "./modules/net"
  cidr   = var.cidr
  none   = 1
}
module "far" {
  source = "terraform-aws-modules/vpc/aws"
}
resource "aws_instance" "web" {
  subnet = module.net.subnet
  vpc    = module.far.id
  ami    = data.aws_ami.x.id
  gone   = aws_gone.x.id
}
-- data.tf --
data "aws_ami" "x" {}
variable "cidr" {}
-- modules/net/main.tf --
variable "cidr" {}
output "subnet" { value = var.cidr }
`

const sqlFiles = `
-- db/001.sql --
CREATE TABLE users (id int PRIMARY KEY);
CREATE TABLE shop.orders (id int, user_id int REFERENCES Users(id));
-- db/002.sql --
ALTER TABLE users ADD COLUMN age int;
CREATE VIEW old AS SELECT * FROM users JOIN audit.orders ON true;
CREATE TABLE IF NOT EXISTS users (id int);
-- other/x.sql --
SELECT * FROM orders, gone;
-- third/x.sql --
CREATE TABLE users (id int);
`

const styleFiles = `
-- css/site.scss --
@use "lib/colors" as c;
@import "base";
.card { @include box(1px); color: c.$red; width: dbl($gap); height: min(1px); border: var(--line); @extend .base; x: $gone; }
-- css/_base.scss --
$gap: 1px;
.base { --line: 1px }
@mixin box($w) { width: $w }
@function dbl($n) { @return $n * 2; }
-- css/lib/_colors.scss --
@forward "more";
-- css/lib/more.scss --
$red: red;
-- css/plain.css --
@import url("https://example.org/x.css");
a { color: var(--line) }
`

func TestFormats(t *testing.T) {
	for _, c := range []struct {
		name          string
		r             resolve.Resolver
		archive, want string
		kinds         []string
	}{
		{"terraform", Terraform(), terraformFiles, `
depends_on main.tf:aws_instance.web -> data.tf:data.aws_ami.x @12:11
depends_on main.tf:aws_instance.web -> main.tf:module.far @11:11
depends_on main.tf:aws_instance.web -> modules/net/main.tf:output.subnet @10:11
references main.tf:module.net -> data.tf:var.cidr @3:11
references main.tf:module.net -> modules/net/main.tf:var.cidr @3:2
depends_on main.tf:module.net -> modules/net/main.tf @2:11
depends_on main.tf:module.far -> terraform terraform-aws-modules/vpc/aws @7:11 (external)
depends_on main.tf:aws_instance.web -> aws_gone.x @13:11 (unresolved)
references modules/net/main.tf:output.subnet -> modules/net/main.tf:var.cidr @2:26
`, []string{"references", "depends_on", "imports"}},
		{"sql", SQL(), sqlFiles, `
contains db/001.sql -> db/001.sql:orders @2:0
contains db/001.sql -> db/001.sql:users @1:0
contains db/001.sql:orders -> db/001.sql:orders.id @2:26
contains db/001.sql:orders -> db/001.sql:orders.user_id @2:34
references db/001.sql:orders.user_id -> db/001.sql:users @2:57
contains db/001.sql:users -> db/001.sql:users.id @1:20
contains db/002.sql -> db/002.sql:old @2:0
contains db/002.sql -> db/002.sql:users @3:0
contains db/002.sql -> db/002.sql:users.age @1:29
references db/002.sql -> db/002.sql:users @1:12
depends_on db/002.sql:old -> db/002.sql:users @2:33
contains db/002.sql:users -> db/002.sql:users.age @1:29
contains db/002.sql:users -> db/002.sql:users.id @3:34
depends_on db/002.sql:old -> orders @2:44 (unresolved)
references other/x.sql -> db/001.sql:orders @1:14 (name_matched 500)
references other/x.sql -> gone @1:22 (unresolved)
contains third/x.sql -> third/x.sql:users @1:0
contains third/x.sql:users -> third/x.sql:users.id @1:20
`, []string{"references", "depends_on", "contains"}},
		{"style", Style(), styleFiles, `
imports css/lib/_colors.scss -> css/lib/more.scss @1:9
references css/plain.css:a -> css/_base.scss:.base.--line @2:15 (name_matched 500)
imports css/plain.css -> css https://example.org/x.css @1:8 (external)
imports css/site.scss -> css/_base.scss @2:8
imports css/site.scss -> css/lib/_colors.scss @1:5
calls css/site.scss:.card -> css/_base.scss:box @3:17
calls css/site.scss:.card -> css/_base.scss:dbl @3:49
references css/site.scss:.card -> css/_base.scss:$gap @3:53
references css/site.scss:.card -> css/_base.scss:.base.--line @3:90
references css/site.scss:.card -> css/lib/more.scss:$red @3:36
extends css/site.scss:.card -> css/_base.scss:.base @3:107
references css/site.scss:.card -> $gone @3:117 (unresolved)
`, []string{"references", "calls", "extends", "imports"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			check(t, c.r, c.archive, c.want, c.kinds...)
		})
	}
}

func TestFormatsKeepUp(t *testing.T) {
	for name, c := range map[string]struct {
		fresh   func() resolve.Resolver
		archive string
		changed map[string]string
		gone    string
	}{
		"terraform": {func() resolve.Resolver { return Terraform() }, terraformFiles, map[string]string{"data.tf": "variable \"x\" {}\n"}, "modules/net/main.tf"},
		"sql":       {func() resolve.Resolver { return SQL() }, sqlFiles, map[string]string{"db/001.sql": "CREATE TABLE gone (x int);"}, "third/x.sql"},
		"style":     {func() resolve.Resolver { return Style() }, styleFiles, map[string]string{"css/_base.scss": "$gone: 1px;"}, "css/lib/more.scss"},
	} {
		t.Run(name, func(t *testing.T) {
			first := resolvetest.Archive(t, c.archive, factsOf)
			second := first.With(c.changed)
			resolvetest.Series(t, c.fresh, first, second, second.With(nil, c.gone), first)
		})
	}
}
