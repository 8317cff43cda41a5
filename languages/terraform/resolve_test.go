package terraform

import (
	"testing"

	"github.com/recountdb/recount/languages/extract"
	"github.com/recountdb/recount/languages/resolvetest"
)

// factsOf makes the facts of files.
var factsOf = extract.Facts(Language.Files...)

const files = `
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

func TestEdges(t *testing.T) {
	resolvetest.Edges(t, NewResolver(), factsOf, files, `
depends_on main.tf:aws_instance.web -> data.tf:data.aws_ami.x @12:11
depends_on main.tf:aws_instance.web -> main.tf:module.far @11:11
depends_on main.tf:aws_instance.web -> modules/net/main.tf:output.subnet @10:11
references main.tf:module.net -> data.tf:var.cidr @3:11
references main.tf:module.net -> modules/net/main.tf:var.cidr @3:2
depends_on main.tf:module.net -> modules/net/main.tf @2:11
depends_on main.tf:module.far -> terraform terraform-aws-modules/vpc/aws @7:11 (external)
depends_on main.tf:aws_instance.web -> aws_gone.x @13:11 (unresolved)
references modules/net/main.tf:output.subnet -> modules/net/main.tf:var.cidr @2:26
`, "references", "depends_on", "imports")
}

func TestCommitByCommit(t *testing.T) {
	first := resolvetest.Archive(t, files, factsOf)
	second := first.With(map[string]string{"data.tf": "variable \"x\" {}\n"})
	resolvetest.Series(t, NewResolver, first, second, second.With(nil, "modules/net/main.tf"), first)
}
