# Reads the cloud assembly that `npm run synth` wrote, and replaces the names of the CDK's bootstrap resources in its
# templates by those of a bucket and a repository of this configuration. It needs no provider.

terraform {
  required_version = ">= 1.5"
}

variable "directory" {
  type        = string
  description = "Output directory of the synthesis, cdk.out."
}

variable "bucket" {
  type        = string
  description = "Bucket that holds the assets."
}

variable "repository" {
  type        = string
  description = "ECR repository that holds the images."
}

locals {
  manifest = jsondecode(file("${var.directory}/Lathe.assets.json"))

  # With the default synthesizer, every asset has one destination, in the account and region of the credentials.
  files = {
    for hash, asset in local.manifest.files : hash => {
      path = "${var.directory}/${asset.source.path}"
      # A directory becomes a zip; a file is uploaded as it is.
      is_directory = asset.source.packaging == "zip"
      is_template  = endswith(asset.source.path, ".template.json")
      key          = one(values(asset.destinations)).objectKey
    }
  }

  images = {
    for hash, asset in local.manifest.dockerImages : hash => {
      directory  = "${var.directory}/${asset.source.directory}"
      file       = lookup(asset.source, "dockerFile", "Dockerfile")
      platform   = lookup(asset.source, "platform", "linux/amd64")
      target     = lookup(asset.source, "dockerBuildTarget", null)
      build_args = lookup(asset.source, "dockerBuildArgs", {})
      tag        = one(values(asset.destinations)).imageTag
    }
  }

  bootstrap = {
    bucket     = "cdk-hnb659fds-assets-$${AWS::AccountId}-$${AWS::Region}"
    repository = "cdk-hnb659fds-container-assets-$${AWS::AccountId}-$${AWS::Region}"
  }
  templates = {
    for hash, asset in local.files : hash => replace(
      replace(file(asset.path), local.bootstrap.bucket, var.bucket), local.bootstrap.repository, var.repository
    ) if asset.is_template
  }

  # The stack itself, without the rule that fails unless the account is bootstrapped.
  root_hash = one([for hash, asset in local.files : hash if endswith(asset.path, "/Lathe.template.json")])
  root      = jsondecode(local.templates[local.root_hash])
  stack = jsonencode(merge(
    { for name, section in local.root : name => section if !contains(["Parameters", "Rules"], name) },
    { Parameters = { for name, parameter in local.root.Parameters : name => parameter if name != "BootstrapVersion" } },
  ))
}

output "directories" {
  description = "Assets to zip, by hash: their path, and the key of the zip."
  value       = { for hash, asset in local.files : hash => asset if asset.is_directory }
}

output "files" {
  description = "Assets to upload as they are, by hash: path and key."
  value       = { for hash, asset in local.files : hash => asset if !asset.is_directory && !asset.is_template }
}

output "nested_templates" {
  description = "Templates of nested stacks, by the keys at which the stack expects them."
  value       = { for hash, text in local.templates : local.files[hash].key => text if hash != local.root_hash }
}

output "images" {
  description = "Images to build and push, by hash."
  value       = local.images
}

output "stack" {
  description = "Template of the stack."
  value       = local.stack
}
