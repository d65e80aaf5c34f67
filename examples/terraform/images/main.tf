# Builds the images of the engines and pushes them. Terraform has no resource that does so: this needs docker and the AWS
# CLI on the machine that applies.

terraform {
  required_version = ">= 1.5"
}

variable "images" {
  type = map(object({
    directory  = string
    file       = string
    platform   = string
    target     = string
    build_args = map(string)
    tag        = string
  }))
  description = "Images by hash, as the module assembly returns them."
}

variable "repository_url" {
  type        = string
  description = "URL of the ECR repository."
}

variable "region" {
  type        = string
  description = "Region of the repository."
}

resource "terraform_data" "image" {
  for_each         = var.images
  triggers_replace = [each.key, var.repository_url]

  provisioner "local-exec" {
    interpreter = ["bash", "-euo", "pipefail", "-c"]
    environment = {
      REGION     = var.region
      REPOSITORY = var.repository_url
      TAG        = each.value.tag
      DIRECTORY  = each.value.directory
    }
    command = <<-EOT
      registry=$${REPOSITORY%%/*}
      # The tag is the hash of the content, so an image that is there already is the same.
      if aws ecr describe-images --region "$REGION" --repository-name "$${REPOSITORY#*/}" --image-ids "imageTag=$TAG" >/dev/null 2>&1; then
        exit
      fi
      aws ecr get-login-password --region "$REGION" | docker login --username AWS --password-stdin "$registry"
      docker build --provenance=false --platform '${each.value.platform}' \
        ${each.value.target == null ? "" : "--target '${each.value.target}'"} \
        ${join(" ", [for name, value in each.value.build_args : "--build-arg '${name}=${value}'"])} \
        --file "$DIRECTORY/${each.value.file}" --tag "$REPOSITORY:$TAG" "$DIRECTORY"
      docker push "$REPOSITORY:$TAG"
    EOT
  }
}

output "tags" {
  description = "Tags of the images that are in the repository."
  value       = [for hash, image in var.images : image.tag if contains(keys(terraform_data.image), hash)]
}
