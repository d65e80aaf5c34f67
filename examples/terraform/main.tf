terraform {
  required_version = ">= 1.5"
  required_providers {
    archive = { source = "hashicorp/archive", version = "~> 2.7" }
    aws     = { source = "hashicorp/aws", version = "~> 6.0" }
  }
}

provider "aws" {
  region = var.region
}

variable "region" {
  type        = string
  description = "Region of the service."
}

variable "name" {
  type        = string
  default     = "lathe"
  description = "Name of the stack, and start of the names of bucket and repository."
}

variable "cdk_out" {
  type        = string
  default     = "../../cdk.out"
  description = "Output directory of npm run synth."
}

variable "parameters" {
  type        = map(string)
  default     = {}
  description = "Parameters of the stack, such as RatePerMinute. Others are context values of npm run synth."
}

data "aws_caller_identity" "current" {}

locals {
  # Part of the template, so known before the bucket and the repository exist.
  bucket     = "${var.name}-assets-${data.aws_caller_identity.current.account_id}-${var.region}"
  repository = "${var.name}-engines"
}

module "assembly" {
  source     = "./assembly"
  directory  = var.cdk_out
  bucket     = local.bucket
  repository = local.repository
}

# The bundles of the functions, and the templates

resource "aws_s3_bucket" "assets" {
  bucket = local.bucket
}

resource "aws_s3_bucket_public_access_block" "assets" {
  bucket                  = aws_s3_bucket.assets.id
  block_public_acls       = true
  block_public_policy     = true
  ignore_public_acls      = true
  restrict_public_buckets = true
}

data "archive_file" "directory" {
  for_each         = module.assembly.directories
  type             = "zip"
  source_dir       = each.value.path
  output_path      = "${path.root}/.terraform/assets/${each.value.key}"
  output_file_mode = "0644"
}

resource "aws_s3_object" "directory" {
  for_each = module.assembly.directories
  bucket   = aws_s3_bucket.assets.id
  key      = each.value.key
  source   = data.archive_file.directory[each.key].output_path
  # The key is the hash of the content, so an object never changes.
  source_hash = each.key

  # Deletes the assets of the previous version after the stack is updated, not before.
  lifecycle {
    create_before_destroy = true
  }
}

resource "aws_s3_object" "file" {
  for_each    = module.assembly.files
  bucket      = aws_s3_bucket.assets.id
  key         = each.value.key
  source      = each.value.path
  source_hash = each.key

  lifecycle {
    create_before_destroy = true
  }
}

resource "aws_s3_object" "nested_template" {
  for_each     = module.assembly.nested_templates
  bucket       = aws_s3_bucket.assets.id
  key          = each.key
  content      = each.value
  content_type = "application/json"

  lifecycle {
    create_before_destroy = true
  }
}

resource "aws_s3_object" "stack" {
  bucket = aws_s3_bucket.assets.id
  # A new template has a new URL, by which the provider notices that the stack has to be updated.
  key          = "stack/${sha256(module.assembly.stack)}.json"
  content      = module.assembly.stack
  content_type = "application/json"

  lifecycle {
    create_before_destroy = true
  }
}

# The images of the engines

resource "aws_ecr_repository" "engines" {
  name                 = local.repository
  image_tag_mutability = "IMMUTABLE"
}

# The service pulls the images, not the role of a function.
resource "aws_ecr_repository_policy" "engines" {
  repository = aws_ecr_repository.engines.name
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Sid       = "LambdaReadsImages"
      Effect    = "Allow"
      Principal = { Service = "lambda.amazonaws.com" }
      Action    = ["ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer"]
      Condition = {
        StringLike = { "aws:sourceArn" = "arn:aws:lambda:${var.region}:${data.aws_caller_identity.current.account_id}:function:*" }
      }
    }]
  })
}

module "images" {
  source         = "./images"
  images         = module.assembly.images
  repository_url = aws_ecr_repository.engines.repository_url
  region         = var.region
}

# The service

resource "aws_cloudformation_stack" "lathe" {
  name         = var.name
  template_url = "https://${aws_s3_bucket.assets.bucket_regional_domain_name}/${aws_s3_object.stack.key}"
  parameters   = var.parameters
  capabilities = ["CAPABILITY_IAM"]
  # Table, bucket and user pool stay if the stack is removed; docs/deploy.md says how to remove them.
  on_failure = "ROLLBACK"

  timeouts {
    create = "60m"
    update = "60m"
    delete = "60m"
  }

  depends_on = [
    aws_s3_object.directory,
    aws_s3_object.file,
    aws_s3_object.nested_template,
    aws_ecr_repository_policy.engines,
    module.images,
  ]
}

output "api_url" {
  description = "Root URL of page and API."
  value       = aws_cloudformation_stack.lathe.outputs["ApiUrl"]
}

output "outputs" {
  description = "All outputs of the stack."
  value       = aws_cloudformation_stack.lathe.outputs
}
