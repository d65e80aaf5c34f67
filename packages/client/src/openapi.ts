// Generated from the OpenAPI document by `npm run types --workspace packages/client`. Do not edit.

export interface paths {
    "/auth/callback": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Complete a sign-in: the issuer redirects here */
        get: operations["sign-in-callback"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/sign-in": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Start a sign-in: redirects to the issuer */
        get: operations["sign-in"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/sign-out": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** End the session of the cookie */
        post: operations["sign-out"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/health": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show the version, the state of the engines and the WebSocket URLs */
        get: operations["health"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/i/{keyId}/{proxy}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a derivative of an image, by a signed URL in the scheme of imgproxy */
        get: operations["picture"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/mcp": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Serve tools to agents over the Model Context Protocol (streamable HTTP with JSON responses, without sessions)
         * @description Requires the scope `read`.
         */
        post: operations["mcp"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/account/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List changes of keys, webhooks, members and roles in the last 90 days, newest first
         * @description Requires the scope `account`.
         */
        get: operations["audit-list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/account/image-keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the keys for image URLs
         * @description Requires the scope `account`.
         */
        get: operations["image-key-list"];
        put?: never;
        /**
         * Create a key for image URLs (shown only once)
         * @description Requires the scope `account`.
         */
        post: operations["image-key-create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/account/image-keys/{imageKeyId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Delete a key for image URLs (it stops working within 30 seconds; cached images remain)
         * @description Requires the scope `account`.
         */
        delete: operations["image-key-delete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/account/keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List API keys
         * @description Requires the scope `account`.
         */
        get: operations["key-list"];
        put?: never;
        /**
         * Create an API key (shown only once)
         * @description Requires the scope `account`.
         */
        post: operations["key-create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/account/keys/{keyId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Delete an API key (it stops working within 30 seconds)
         * @description Requires the scope `account`.
         */
        delete: operations["key-delete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/account/me": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show the account and the caller
         * @description Requires the scope `read`.
         */
        get: operations["account-me"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/account/members": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List members and pending invitations (an API key requires the scope account)
         * @description Requires the scope `read`.
         */
        get: operations["member-list"];
        put?: never;
        /**
         * Invite a person to a team by e-mail address
         * @description Requires the scope `account`.
         */
        post: operations["member-invite"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/account/members/{memberId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Change the role of a member
         * @description Requires the scope `account`.
         */
        post: operations["member-change"];
        /**
         * Leave a team or, with the scope account, remove a member or withdraw an invitation
         * @description Requires the scope `read`.
         */
        delete: operations["member-remove"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/account/teams": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create a team (signed-in people only)
         * @description Requires the scope `read`.
         */
        post: operations["team-create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/account/token": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create a short-lived token for WebSockets, for the account or for one job
         * @description Requires the scope `read`.
         */
        post: operations["account-token"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/account/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show the conversion time used, by day, operation, formats and API key
         * @description Requires the scope `read`.
         */
        get: operations["account-usage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/account/webhooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List webhooks
         * @description Requires the scope `read`.
         */
        get: operations["webhook-list"];
        put?: never;
        /**
         * Register a webhook
         * @description Requires the scope `account`.
         */
        post: operations["webhook-create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/account/webhooks/{webhookId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Delete a webhook
         * @description Requires the scope `account`.
         */
        delete: operations["webhook-delete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/account/webhooks/{webhookId}/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the deliveries of a webhook with their attempts
         * @description Requires the scope `read`.
         */
        get: operations["webhook-deliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/account/webhooks/{webhookId}/deliveries/{deliveryId}/replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a delivery again
         * @description Requires the scope `account`.
         */
        post: operations["webhook-replay"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/files/{taskId}/{token}/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Download a file by the link in a result */
        get: operations["file"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/instant/compress": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Compress files within the request
         * @description Requires the scope `process`.
         */
        post: operations["instant-compress"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/instant/convert": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Convert files to another format within the request
         * @description Requires the scope `process`.
         */
        post: operations["instant-convert"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/instant/crop": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Crop images, videos or PDF pages within the request
         * @description Requires the scope `process`.
         */
        post: operations["instant-crop"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/instant/invoice/embed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Make a Factur-X or ZUGFeRD invoice of a PDF within the request
         * @description Requires the scope `process`.
         */
        post: operations["instant-invoice-embed"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/instant/invoice/extract": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Extract the XML of an electronic invoice within the request
         * @description Requires the scope `process`.
         */
        post: operations["instant-invoice-extract"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/instant/merge": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Merge documents, PDFs and images into one file within the request
         * @description Requires the scope `process`.
         */
        post: operations["instant-merge"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/instant/pdf/a": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Make a PDF/A, and validate it within the request
         * @description Requires the scope `process`.
         */
        post: operations["instant-pdf-a"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/instant/pdf/compare": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Compare two PDFs within the request
         * @description Requires the scope `process`.
         */
        post: operations["instant-pdf-compare"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/instant/pdf/decrypt": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Remove the password of a PDF within the request
         * @description Requires the scope `process`.
         */
        post: operations["instant-pdf-decrypt"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/instant/pdf/encrypt": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Protect a PDF by passwords and permissions within the request
         * @description Requires the scope `process`.
         */
        post: operations["instant-pdf-encrypt"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/instant/pdf/extract": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Extract pages of a PDF within the request
         * @description Requires the scope `process`.
         */
        post: operations["instant-pdf-extract"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/instant/pdf/fill": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Fill the form of a PDF within the request
         * @description Requires the scope `process`.
         */
        post: operations["instant-pdf-fill"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/instant/pdf/forms": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * List the form fields of a PDF within the request
         * @description Requires the scope `process`.
         */
        post: operations["instant-pdf-forms"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/instant/pdf/ocr": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Make the text of scanned pages searchable within the request
         * @description Requires the scope `process`.
         */
        post: operations["instant-pdf-ocr"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/instant/pdf/optimize": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Make a PDF smaller, and fast to open from the web within the request
         * @description Requires the scope `process`.
         */
        post: operations["instant-pdf-optimize"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/instant/pdf/redact": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Remove texts or areas from a PDF within the request
         * @description Requires the scope `process`.
         */
        post: operations["instant-pdf-redact"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/instant/pdf/reorder": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Put the pages of a PDF into another order within the request
         * @description Requires the scope `process`.
         */
        post: operations["instant-pdf-reorder"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/instant/pdf/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Rotate pages of a PDF within the request
         * @description Requires the scope `process`.
         */
        post: operations["instant-pdf-rotate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/instant/pdf/sign": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Sign a PDF within the request
         * @description Requires the scope `process`.
         */
        post: operations["instant-pdf-sign"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/instant/pdf/split": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Split a PDF into several within the request
         * @description Requires the scope `process`.
         */
        post: operations["instant-pdf-split"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/instant/pdf/stamp": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Stamp page numbers, Bates numbers, dates or pictures on a PDF within the request
         * @description Requires the scope `process`.
         */
        post: operations["instant-pdf-stamp"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/instant/pdf/ua": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Make a tagged PDF, and validate it within the request
         * @description Requires the scope `process`.
         */
        post: operations["instant-pdf-ua"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/instant/pdf/verify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Verify the signatures of a PDF within the request
         * @description Requires the scope `process`.
         */
        post: operations["instant-pdf-verify"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/instant/pdf/watermark": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Put a text or picture across the pages of a PDF within the request
         * @description Requires the scope `process`.
         */
        post: operations["instant-pdf-watermark"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/instant/trim": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Trim audio or video within the request
         * @description Requires the scope `process`.
         */
        post: operations["instant-trim"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/openapi.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Return the OpenAPI 3.1 document of this API */
        get: operations["openapi"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/process/compress": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Compress files
         * @description Requires the scope `process`.
         */
        post: operations["compress"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/process/convert": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Convert files to another format
         * @description Requires the scope `process`.
         */
        post: operations["convert"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/process/crop": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Crop images, videos or PDF pages
         * @description Requires the scope `process`.
         */
        post: operations["crop"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/process/export/blobstore": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Export to Azure Blob Storage
         * @description Requires the scope `process`.
         */
        post: operations["export-blobstore"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/process/export/objstore_a": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Export to Amazon S3 or a compatible store
         * @description Requires the scope `process`.
         */
        post: operations["export-objstore-a"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/process/export/objstore_b": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Export to Google Cloud Storage
         * @description Requires the scope `process`.
         */
        post: operations["export-objstore-b"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/process/export/sftp": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Export to an SFTP server
         * @description Requires the scope `process`.
         */
        post: operations["export-sftp"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/process/export/url": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create temporary download links
         * @description Requires the scope `process`.
         */
        post: operations["export-url"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/process/import/base64": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Import a small file sent in the request
         * @description Requires the scope `process`.
         */
        post: operations["import-base64"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/process/import/blobstore": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Import from Azure Blob Storage
         * @description Requires the scope `process`.
         */
        post: operations["import-blobstore"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/process/import/objstore_a": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Import from Amazon S3 or a compatible store
         * @description Requires the scope `process`.
         */
        post: operations["import-objstore-a"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/process/import/objstore_b": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Import from Google Cloud Storage
         * @description Requires the scope `process`.
         */
        post: operations["import-objstore-b"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/process/import/sftp": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Import from an SFTP server
         * @description Requires the scope `process`.
         */
        post: operations["import-sftp"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/process/import/upload": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Import a file that the client posts to the returned form
         * @description Requires the scope `process`.
         */
        post: operations["import-upload"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/process/import/url": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Import a file from a URL
         * @description Requires the scope `process`.
         */
        post: operations["import-url"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/process/import/webpage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Import a web page
         * @description Requires the scope `process`.
         */
        post: operations["import-webpage"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/process/invoice/embed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Make a Factur-X or ZUGFeRD invoice of a PDF
         * @description Requires the scope `process`.
         */
        post: operations["invoice-embed"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/process/invoice/extract": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Extract the XML of an electronic invoice
         * @description Requires the scope `process`.
         */
        post: operations["invoice-extract"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/process/jobs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List jobs, newest first
         * @description Requires the scope `read`.
         */
        get: operations["list-jobs"];
        put?: never;
        /**
         * Create a job with all its tasks
         * @description Requires the scope `process`.
         */
        post: operations["create-job"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/process/jobs/{jobId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show a job with its tasks
         * @description Requires the scope `read`.
         */
        get: operations["show-job"];
        put?: never;
        post?: never;
        /**
         * Delete a job, its tasks and their files
         * @description Requires the scope `process`.
         */
        delete: operations["delete-job"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/process/jobs/{jobId}/wait": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Wait up to 25 seconds for all tasks of a job to end, and show it
         * @description Requires the scope `read`.
         */
        get: operations["wait-for-job"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/process/merge": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Merge documents, PDFs and images into one file
         * @description Requires the scope `process`.
         */
        post: operations["merge"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/process/pdf/a": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Make a PDF/A, and validate it
         * @description Requires the scope `process`.
         */
        post: operations["pdf-a"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/process/pdf/compare": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Compare two PDFs
         * @description Requires the scope `process`.
         */
        post: operations["pdf-compare"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/process/pdf/decrypt": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Remove the password of a PDF
         * @description Requires the scope `process`.
         */
        post: operations["pdf-decrypt"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/process/pdf/encrypt": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Protect a PDF by passwords and permissions
         * @description Requires the scope `process`.
         */
        post: operations["pdf-encrypt"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/process/pdf/extract": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Extract pages of a PDF
         * @description Requires the scope `process`.
         */
        post: operations["pdf-extract"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/process/pdf/fill": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Fill the form of a PDF
         * @description Requires the scope `process`.
         */
        post: operations["pdf-fill"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/process/pdf/forms": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * List the form fields of a PDF
         * @description Requires the scope `process`.
         */
        post: operations["pdf-forms"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/process/pdf/ocr": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Make the text of scanned pages searchable
         * @description Requires the scope `process`.
         */
        post: operations["pdf-ocr"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/process/pdf/optimize": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Make a PDF smaller, and fast to open from the web
         * @description Requires the scope `process`.
         */
        post: operations["pdf-optimize"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/process/pdf/redact": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Remove texts or areas from a PDF
         * @description Requires the scope `process`.
         */
        post: operations["pdf-redact"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/process/pdf/reorder": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Put the pages of a PDF into another order
         * @description Requires the scope `process`.
         */
        post: operations["pdf-reorder"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/process/pdf/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Rotate pages of a PDF
         * @description Requires the scope `process`.
         */
        post: operations["pdf-rotate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/process/pdf/sign": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Sign a PDF
         * @description Requires the scope `process`.
         */
        post: operations["pdf-sign"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/process/pdf/split": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Split a PDF into several
         * @description Requires the scope `process`.
         */
        post: operations["pdf-split"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/process/pdf/stamp": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Stamp page numbers, Bates numbers, dates or pictures on a PDF
         * @description Requires the scope `process`.
         */
        post: operations["pdf-stamp"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/process/pdf/ua": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Make a tagged PDF, and validate it
         * @description Requires the scope `process`.
         */
        post: operations["pdf-ua"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/process/pdf/verify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Verify the signatures of a PDF
         * @description Requires the scope `process`.
         */
        post: operations["pdf-verify"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/process/pdf/watermark": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Put a text or picture across the pages of a PDF
         * @description Requires the scope `process`.
         */
        post: operations["pdf-watermark"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/process/tasks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List tasks, newest first
         * @description Requires the scope `read`.
         */
        get: operations["list-tasks"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/process/tasks/{taskId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show a task
         * @description Requires the scope `read`.
         */
        get: operations["show-task"];
        put?: never;
        post?: never;
        /**
         * Delete a task and its files
         * @description Requires the scope `process`.
         */
        delete: operations["delete-task"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/process/tasks/{taskId}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel a task that has not ended
         * @description Requires the scope `process`.
         */
        post: operations["cancel-task"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/process/tasks/{taskId}/wait": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Wait up to 25 seconds for a task to end, and show it
         * @description Requires the scope `read`.
         */
        get: operations["wait-for-task"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/process/trim": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Trim audio or video
         * @description Requires the scope `process`.
         */
        post: operations["trim"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/query/formats": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List all supported formats */
        get: operations["query-all-formats"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/query/formats/{operation}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the formats that an operation reads or writes */
        get: operations["query-formats"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/query/options/{operation}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the options of an operation for a pair of formats */
        get: operations["query-options"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/uploads/{taskId}/{token}/s3/multipart": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Start or resume the upload of a file in parts */
        post: operations["start-upload"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/uploads/{taskId}/{token}/s3/multipart/{uploadId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the parts that are stored */
        get: operations["list-upload-parts"];
        put?: never;
        post?: never;
        /** Abort an upload and delete its parts */
        delete: operations["abort-upload"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/uploads/{taskId}/{token}/s3/multipart/{uploadId}/{partNumber}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get the URL to which a part is sent with PUT */
        get: operations["sign-upload-part"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/uploads/{taskId}/{token}/s3/multipart/{uploadId}/complete": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Complete an upload with the parts in the request */
        post: operations["complete-upload"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/uploads/{taskId}/{token}/s3/params": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get the form for a file that is uploaded in one request */
        get: operations["upload-form"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        AbortedUpload: Record<string, never>;
        Account: {
            /** @example 6af9126cc0830000f25c62d1 */
            id: string;
            /** @enum {string} */
            kind: "personal" | "team";
            name: string;
            /** @enum {string} */
            role: "owner" | "developer" | "viewer";
        };
        AuditPage: {
            docs: {
                /** @enum {string} */
                action: "key.created" | "key.deleted" | "image_key.created" | "image_key.deleted" | "webhook.created" | "webhook.deleted" | "team.created" | "member.invited" | "member.joined" | "member.removed" | "role.changed" | "invitation.withdrawn";
                actor: {
                    /** @description The id of the key or person. */
                    id?: string;
                    /** @enum {string} */
                    type: "key" | "person" | "operator";
                };
                /** @description The IP address of the client. */
                address?: string;
                /** @description User-Agent of the client, shortened. */
                agent?: string;
                /** Format: date-time */
                at: string;
                id: string;
                /** @description Name of the changed resource. */
                name?: string;
                role?: string;
                scopes?: string[];
                /** @description Id of the changed resource. */
                subject: string;
            }[];
            /** @description Value of `before` for the next page; null on the last page. */
            next: string | null;
        };
        CompletedUpload: {
            key: string;
            /**
             * Format: uri
             * @description URL of the task.
             */
            location: string;
        };
        /**
         * @description Lower-case extension without a dot. Upper case and a leading dot are accepted, too.
         * @enum {string}
         */
        CompressInputFormat: "264" | "265" | "3g2" | "3gp" | "3gpp" | "3gpp2" | "8svx" | "aac" | "ac3" | "adts" | "adx" | "aif" | "aifc" | "aiff" | "amr" | "ape" | "asf" | "ast" | "au" | "avc" | "avi" | "avif" | "avr" | "bwf" | "caf" | "dff" | "dif" | "divx" | "dsf" | "dts" | "dv" | "dvr-ms" | "eac3" | "ec3" | "f4a" | "f4v" | "flac" | "flv" | "g722" | "gif" | "gsm" | "h264" | "h265" | "hevc" | "iff" | "ircam" | "ismv" | "ivf" | "jfif" | "jif" | "jpe" | "jpeg" | "jpg" | "jps" | "m1v" | "m2p" | "m2t" | "m2ts" | "m2v" | "m4a" | "m4b" | "m4r" | "m4v" | "mjpeg" | "mjpg" | "mk3d" | "mka" | "mkv" | "mlp" | "mmf" | "mogg" | "mov" | "mp2" | "mp3" | "mp4" | "mp4v" | "mpa" | "mpc" | "mpe" | "mpeg" | "mpg" | "mpv" | "mts" | "mxf" | "nist" | "nut" | "oga" | "ogg" | "ogv" | "ogx" | "opus" | "pdf" | "pjpeg" | "png" | "pvf" | "qt" | "ra" | "rf64" | "rm" | "rmvb" | "sf" | "snd" | "sox" | "sph" | "spx" | "swf" | "thd" | "tod" | "trp" | "truehd" | "ts" | "tta" | "vob" | "voc" | "vro" | "w64" | "wav" | "wave" | "weba" | "webm" | "webp" | "wm" | "wma" | "wmv" | "wtv" | "wv" | "xvid" | "y4m";
        /** @description Options of compress. GET /v1/query/options/compress lists the options of a pair of formats and their dependencies. */
        CompressOptions: {
            audio_bitrate?: number;
            audio_compress_max_filesize?: number;
            audio_compress_percentage?: number;
            /** @enum {unknown} */
            compress_audio?: "by_bitrate" | "by_percentage" | "by_size";
            /** @enum {unknown} */
            compress_image?: "by_quality" | "by_percentage" | "by_size";
            /** @enum {unknown} */
            compress_pdf?: "by_quality" | "by_percentage" | "by_size";
            /** @enum {unknown} */
            compress_video?: "by_percentage" | "by_size" | "by_video_quality" | "by_resolution" | "by_max_bitrate";
            image_compress_max_filesize?: number;
            image_compress_percentage?: number;
            image_compress_quality?: number;
            /** @enum {unknown} */
            image_compress_resize?: true | false | "true" | "false";
            password?: string;
            pdf_compress_max_filesize?: number;
            pdf_compress_percentage?: number;
            /** @enum {unknown} */
            pdf_compress_quality?: "screen" | "ebook" | "printer" | "prepress";
            /** @enum {unknown} */
            strip?: true | false | "true" | "false";
            video_codec_compress?: ("libx264" | "libx265" | "mpeg4") | ("libx264" | "libx265" | "libvpx-vp9" | "libvpx" | "mpeg4" | "mpeg2video") | ("libvpx-vp9" | "libvpx") | ("libx264" | "mpeg4") | "libx264" | "wmv2" | ("libx264" | "flv") | ("mpeg2video" | "mpeg1video") | ("libx264" | "libx265" | "mpeg2video") | "libtheora" | ("mpeg4" | "libx264");
            video_compress_crf_x264?: number;
            video_compress_crf_x265?: number;
            video_compress_max_bitrate?: number;
            video_compress_max_filesize?: number;
            video_compress_quality_percentage?: number;
            /** @enum {unknown} */
            video_compress_speed?: "ultrafast" | "superfast" | "veryfast" | "faster" | "fast" | "medium" | "slow" | "slower" | "veryslow";
            /** @enum {unknown} */
            video_compression_resize_method?: "preset_resolutions" | "by_width_keep_ar" | "by_height_keep_ar" | "by_width_height";
            /** @enum {unknown} */
            video_compression_resolution_preset?: "7680:4320" | "3840:2160" | "2560:1440" | "1920:1080" | "1280:720" | "854:480" | "640:360" | "426:240" | "256:144";
            video_compressor_bufsize?: number;
            video_custom_height_compress?: number;
            video_custom_width_compress?: number;
        };
        /**
         * @description Lower-case extension without a dot. Upper case and a leading dot are accepted, too.
         * @enum {string}
         */
        CompressOutputFormat: "3g2" | "3gp" | "3gpp" | "3gpp2" | "aac" | "adts" | "asf" | "avi" | "avif" | "dvr-ms" | "f4a" | "f4v" | "flv" | "gif" | "ismv" | "ivf" | "jfif" | "jif" | "jpe" | "jpeg" | "jpg" | "jps" | "m2p" | "m2t" | "m2ts" | "m4a" | "m4b" | "m4r" | "m4v" | "mk3d" | "mka" | "mkv" | "mogg" | "mov" | "mp3" | "mp4" | "mp4v" | "mpe" | "mpeg" | "mpg" | "mts" | "nut" | "oga" | "ogg" | "ogv" | "ogx" | "opus" | "pdf" | "pjpeg" | "png" | "qt" | "tod" | "trp" | "ts" | "vob" | "vro" | "weba" | "webm" | "webp" | "wm" | "wma" | "wmv";
        CompressTask: {
            /** @description Overrides the name of the file. */
            filename?: string;
            /** @description Task to read files from: the name of a task in the same job, or the id of an earlier task. Can be an array. */
            input: string | string[];
            /** @description File extension without a dot. */
            input_format?: components["schemas"]["CompressInputFormat"];
            /** @constant */
            operation: "compress";
            /**
             * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
             * @default {}
             */
            options?: components["schemas"]["CompressOptions"];
            /** @description File extension without a dot. */
            output_format?: components["schemas"]["CompressOutputFormat"];
        };
        /**
         * @description Lower-case extension without a dot. Upper case and a leading dot are accepted, too.
         * @enum {string}
         */
        ConvertInputFormat: "264" | "265" | "3g2" | "3gp" | "3gpp" | "3gpp2" | "7z" | "8svx" | "aac" | "aai" | "abw" | "ac3" | "adts" | "adx" | "aif" | "aifc" | "aiff" | "amr" | "ape" | "apk" | "apng" | "ar" | "arj" | "arw" | "asf" | "ast" | "au" | "avc" | "avi" | "avif" | "avr" | "avs" | "azw" | "azw3" | "blp" | "bmp" | "bw" | "bwf" | "bz2" | "cab" | "caf" | "cb7" | "cbr" | "cbt" | "cbz" | "cin" | "cpio" | "cr2" | "cr3" | "creole" | "csv" | "cur" | "dbk" | "dcm" | "dcx" | "dds" | "deb" | "dff" | "dib" | "dicom" | "dif" | "divx" | "dng" | "doc" | "docbook" | "docm" | "docx" | "dokuwiki" | "dot" | "dotm" | "dotx" | "dpx" | "dsf" | "dts" | "dv" | "dvr-ms" | "eac3" | "ec3" | "emf" | "eml" | "epi" | "eps" | "epsf" | "epsi" | "ept" | "epub" | "exr" | "f4a" | "f4v" | "farbfeld" | "fb2" | "ff" | "fit" | "fits" | "flac" | "flc" | "fli" | "flv" | "fodg" | "fodp" | "fods" | "fodt" | "fts" | "g722" | "gif" | "gnumeric" | "gsm" | "gz" | "gzip" | "h264" | "h265" | "haddock" | "hdr" | "heic" | "heif" | "hevc" | "hif" | "htm" | "html" | "htmlz" | "icb" | "icns" | "ico" | "icon" | "iff" | "im" | "ipl" | "ipynb" | "ircam" | "ismv" | "iso" | "ivf" | "j2c" | "j2k" | "jar" | "jats" | "jfif" | "jif" | "jira" | "jng" | "jp2" | "jpc" | "jpe" | "jpeg" | "jpf" | "jpg" | "jpg2" | "jpm" | "jps" | "jpx" | "jxl" | "key" | "latex" | "lha" | "lit" | "lrf" | "lzh" | "lzma" | "m1v" | "m2p" | "m2t" | "m2ts" | "m2v" | "m4a" | "m4b" | "m4r" | "m4v" | "man" | "markdown" | "mat" | "mbox" | "md" | "mediawiki" | "miff" | "mjpeg" | "mjpg" | "mk3d" | "mka" | "mkv" | "mlp" | "mmf" | "mng" | "mobi" | "mogg" | "mov" | "mp2" | "mp3" | "mp4" | "mp4v" | "mpa" | "mpc" | "mpe" | "mpeg" | "mpg" | "mpo" | "mpv" | "msg" | "msp" | "mts" | "mtv" | "muse" | "mxf" | "nef" | "nist" | "nrw" | "numbers" | "nut" | "odg" | "odp" | "ods" | "odt" | "oga" | "ogg" | "ogv" | "ogx" | "opml" | "opus" | "orf" | "org" | "otg" | "otp" | "ots" | "ott" | "pages" | "palm" | "pam" | "pbm" | "pct" | "pcx" | "pdb" | "pdf" | "pef" | "pfm" | "pgm" | "pgx" | "pict" | "pix" | "pjpeg" | "png" | "pnm" | "pot" | "potm" | "potx" | "ppm" | "pps" | "ppsm" | "ppsx" | "ppt" | "pptm" | "pptx" | "prc" | "ps" | "psb" | "psd" | "ptif" | "pub" | "pvf" | "qoi" | "qt" | "ra" | "raf" | "rar" | "ras" | "rf64" | "rgb" | "rgba" | "rgbe" | "rle" | "rm" | "rmvb" | "rpm" | "rst" | "rtf" | "rw2" | "sf" | "sgi" | "slk" | "snd" | "sox" | "sph" | "spx" | "sqfs" | "squashfs" | "srw" | "stc" | "stw" | "sun" | "svg" | "svgz" | "swf" | "sxc" | "sxd" | "sxi" | "sxw" | "sylk" | "t2t" | "tab" | "tar" | "tar.bz2" | "tar.gz" | "tar.lzma" | "tar.xz" | "tar.z" | "tar.zst" | "targa" | "taz" | "tbz" | "tbz2" | "tex" | "textile" | "tga" | "tgz" | "thd" | "tif" | "tiff" | "tikiwiki" | "tod" | "trp" | "truehd" | "ts" | "tsv" | "tta" | "twiki" | "txt" | "txtz" | "txz" | "tzst" | "vda" | "vic" | "vicar" | "viff" | "vimwiki" | "vips" | "vob" | "voc" | "vro" | "vsd" | "vsdm" | "vsdx" | "vst" | "vstx" | "w64" | "war" | "wav" | "wave" | "wbmp" | "weba" | "webm" | "webp" | "wiki" | "wim" | "wk1" | "wm" | "wma" | "wmf" | "wmv" | "wpd" | "wpg" | "wtv" | "wv" | "xar" | "xbm" | "xcf" | "xht" | "xhtml" | "xls" | "xlsm" | "xlsx" | "xlt" | "xltm" | "xltx" | "xpi" | "xpm" | "xv" | "xvid" | "xz" | "y4m" | "z" | "zip" | "zst" | "zstd";
        /** @description Options of convert. GET /v1/query/options/convert lists the options of a pair of formats and their dependencies. */
        ConvertOptions: {
            aspect?: string;
            /** @enum {unknown} */
            attachments?: "append" | "embed" | "list";
            audio_bitrate?: number;
            audio_codec?: ("auto" | "aac" | "libmp3lame" | "ac3" | "eac3" | "alac" | "copy" | "none") | ("auto" | "aac" | "ac3" | "alac" | "copy" | "none") | ("auto" | "aac" | "libmp3lame" | "ac3" | "alac" | "pcm_s16le" | "copy" | "none") | ("auto" | "aac" | "copy" | "none") | ("auto" | "aac" | "libmp3lame" | "libopus" | "libvorbis" | "flac" | "ac3" | "eac3" | "pcm_s16le" | "copy" | "none") | ("auto" | "libopus" | "libvorbis" | "copy" | "none") | ("auto" | "libmp3lame" | "ac3" | "pcm_s16le" | "copy" | "none") | ("auto" | "wmav2" | "copy" | "none") | ("auto" | "aac" | "libmp3lame" | "copy" | "none") | ("auto" | "mp2" | "ac3" | "copy" | "none") | ("auto" | "ac3" | "mp2" | "copy" | "none") | ("auto" | "aac" | "libmp3lame" | "mp2" | "ac3" | "eac3" | "copy" | "none") | ("auto" | "ac3" | "aac" | "mp2" | "copy" | "none") | ("auto" | "libvorbis" | "libopus" | "flac" | "copy" | "none") | ("auto" | "pcm_s16le" | "pcm_s24le" | "copy" | "none") | ("auto" | "pcm_s16le" | "copy" | "none") | ("auto" | "ac3" | "copy" | "none") | ("auto" | "libmp3lame" | "copy" | "none") | ("auto" | "aac" | "libmp3lame" | "libvorbis" | "flac" | "copy" | "none") | ("auto" | "libmp3lame" | "copy") | ("auto" | "pcm_s16le" | "pcm_s24le" | "pcm_s32le" | "copy") | ("auto" | "flac" | "copy") | ("auto" | "libvorbis" | "libopus" | "flac" | "copy") | ("auto" | "libopus" | "copy") | ("auto" | "aac" | "alac" | "copy") | ("auto" | "aac" | "copy") | ("auto" | "wmav2" | "copy") | ("auto" | "pcm_s16be" | "pcm_s24be" | "copy") | ("auto" | "pcm_s16le" | "copy") | ("auto" | "ac3" | "copy") | ("auto" | "eac3" | "copy") | ("auto" | "pcm_s16le" | "pcm_s24le" | "alac" | "copy") | ("auto" | "mp2" | "copy") | ("auto" | "aac" | "libmp3lame" | "libopus" | "libvorbis" | "flac" | "ac3" | "copy") | ("auto" | "libopus" | "libvorbis" | "copy") | ("auto" | "pcm_s32le" | "copy");
            /** @enum {unknown} */
            audio_frequency?: "8000" | "11025" | "12000" | "16000" | "22050" | "24000" | "32000" | "44100" | "48000" | "88200" | "96000" | "176400" | "192000" | 8000 | 11025 | 12000 | 16000 | 22050 | 24000 | 32000 | 44100 | 48000 | 88200 | 96000 | 176400 | 192000;
            /** @enum {unknown} */
            "auto-orient"?: true | false | "true" | "false";
            background?: string;
            book_author?: string;
            book_title?: string;
            /** @enum {unknown} */
            cell_values?: "shown" | "iso" | "raw";
            channels?: number;
            color_space?: ("srgb" | "gray" | "cmyk") | ("srgb" | "gray");
            /** @enum {unknown} */
            column_types?: "auto" | "text" | "detect";
            compatibility?: ("web" | "any" | "archive") | ("any" | "archive");
            compression_level?: number;
            /** @enum {unknown} */
            csv_delimiter?: "comma" | "semicolon" | "tab" | "pipe";
            cut_end_gif?: string;
            cut_start_video_to_gif?: string;
            /** @enum {unknown} */
            empty_sheets?: true | false | "true" | "false";
            /** @enum {unknown} */
            encoding?: "utf-8" | "utf-8-bom" | "utf-16le" | "windows-1252";
            /** @enum {unknown} */
            enlarge_images_to_fit?: true | false | "true" | "false";
            /** @enum {unknown} */
            faststart?: true | false | "true" | "false";
            fit?: ("max" | "crop" | "scale" | "pad") | ("max" | "crop" | "scale");
            /** @enum {unknown} */
            flip?: "none" | "horizontal" | "vertical" | "both";
            footer_template?: string;
            fps?: number;
            frame_time?: string;
            /** @enum {unknown} */
            full_page?: true | false | "true" | "false";
            gif_fps?: number;
            header_template?: string;
            height?: number;
            /** @enum {unknown} */
            hidden_sheets?: true | false | "true" | "false";
            /** @enum {unknown} */
            hide_cookie?: true | false | "true" | "false";
            ico_sizes?: string;
            image_custom_height?: number;
            image_custom_width?: number;
            image_dpi?: number;
            image_quality?: number;
            image_resize_percentage?: number;
            /** @enum {unknown} */
            image_resolution?: "75" | "150" | "300" | "600" | "1200" | 75 | 150 | 300 | 600 | 1200;
            /** @enum {unknown} */
            images?: "files" | "embedded" | "none";
            initial_delay?: number;
            input_encoding?: ("auto" | "utf-8" | "utf-16le" | "utf-16be" | "windows-1252" | "iso-8859-1" | "iso-8859-15" | "macintosh" | "iso-8859-2" | "windows-1250" | "windows-1257" | "windows-1251" | "koi8-r" | "koi8-u" | "windows-1253" | "windows-1254" | "windows-1255" | "windows-1256" | "windows-1258" | "windows-874" | "shift_jis" | "euc-jp" | "iso-2022-jp" | "gbk" | "gb18030" | "big5" | "euc-kr") | ("auto" | "ibm437" | "ibm850" | "ibm866" | "shift_jis" | "gb18030" | "euc-kr" | "big5" | "windows-1252" | "windows-1251" | "windows-1250" | "koi8-r" | "euc-jp");
            jpg_convert_compression_level?: number;
            /** @enum {unknown} */
            keep_layout?: true | false | "true" | "false";
            languages?: string;
            loop_count?: number;
            loop_count_video_to_gif?: number;
            /** @enum {unknown} */
            lossless?: true | false | "true" | "false";
            margin?: number;
            margin_bottom?: number;
            margin_left?: number;
            margin_right?: number;
            margin_top?: number;
            /** @enum {unknown} */
            one_file_per?: "mailbox" | "thread" | "message";
            output_password?: string;
            page?: number;
            /** @enum {unknown} */
            page_markers?: true | false | "true" | "false";
            /** @enum {unknown} */
            page_orientation?: "portrait" | "landscape";
            page_range?: string;
            page_size?: ("A0" | "A1" | "A2" | "A3" | "A4" | "A5" | "A6" | "Letter" | "Legal" | "Tabloid" | "Ledger") | ("a3" | "a4" | "a5" | "b5" | "letter" | "legal" | "tabloid");
            password?: string;
            /** @enum {unknown} */
            pdf_a?: "none" | "1b" | "2b" | "3b";
            /** @enum {unknown} */
            pdf_image_alignment?: "Center" | "Top" | "Bottom" | "Left" | "Right" | "TopLeft" | "TopRight" | "BottomLeft" | "BottomRight";
            /** @enum {unknown} */
            pdf_orientation?: "portrait" | "landscape";
            /** @enum {unknown} */
            pdf_page_size?: "same-as-image" | "1240.2x1753.95" | "1753.95x2480.25" | "2480.25x3507.9" | "3507.9x4966.5" | "4966.5x7021.65" | "874.05x1240.2" | "620.1x874.05" | "1476.45x2084.7" | "1039.35x1476.45" | "1275x1650" | "1275x2100" | "1650x2550" | "1087.5x1575";
            /** @enum {unknown} */
            png_compression_level?: "none" | "light" | "strong" | "lossy";
            png_convert_quality?: number;
            /** @enum {unknown} */
            preset?: "ultrafast" | "superfast" | "veryfast" | "faster" | "fast" | "medium" | "slow" | "slower" | "veryslow";
            /** @enum {unknown} */
            print_background?: true | false | "true" | "false";
            /** @enum {unknown} */
            profile?: "baseline" | "main" | "high";
            /** @enum {unknown} */
            progressive?: true | false | "true" | "false";
            quality?: number;
            /** @enum {unknown} */
            remote_content?: "block" | "load";
            renditions?: string;
            rotate?: number;
            /** @enum {unknown} */
            sample_rate?: "8000" | "11025" | "12000" | "16000" | "22050" | "24000" | "32000" | "44100" | "48000" | "88200" | "96000" | "176400" | "192000" | 8000 | 11025 | 12000 | 16000 | 22050 | 24000 | 32000 | 44100 | 48000 | 88200 | 96000 | 176400 | 192000;
            scale?: number;
            segment_seconds?: number;
            sheet?: number;
            /** @enum {unknown} */
            shrink_to_fit?: true | false | "true" | "false";
            /** @enum {unknown} */
            strip?: true | false | "true" | "false";
            subtitles_mode?: ("none" | "hard" | "soft") | ("none" | "hard") | ("none" | "soft");
            /** @enum {unknown} */
            tagged?: true | false | "true" | "false";
            thumbnail_seconds?: number;
            /** @enum {unknown} */
            tiff_compression?: "none" | "lzw" | "deflate" | "jpeg";
            trim_end?: string;
            trim_start?: string;
            /** @enum {unknown} */
            use_print_stylesheet?: true | false | "true" | "false";
            video_bitrate?: number;
            video_codec?: ("auto" | "libx264" | "libx265" | "libsvtav1" | "mpeg4" | "copy") | ("auto" | "libx264" | "mpeg4" | "copy") | ("auto" | "libx264" | "libx265" | "prores_ks" | "mpeg4" | "mjpeg" | "copy") | ("auto" | "libx264" | "copy") | ("auto" | "libx264" | "libx265" | "libsvtav1" | "libvpx-vp9" | "libvpx" | "mpeg4" | "mpeg2video" | "prores_ks" | "mjpeg" | "ffv1" | "copy") | ("auto" | "libvpx-vp9" | "libvpx" | "libsvtav1" | "copy") | ("auto" | "mpeg4" | "libx264" | "mjpeg" | "copy") | ("auto" | "mpeg4" | "copy") | ("auto" | "wmv2" | "copy") | ("auto" | "libx264" | "flv" | "copy") | ("auto" | "mpeg2video" | "mpeg1video" | "copy") | ("auto" | "libx264" | "libx265" | "mpeg2video" | "copy") | ("auto" | "libtheora" | "copy") | ("auto" | "mpeg2video" | "copy") | ("auto" | "dvvideo" | "copy") | ("auto" | "rv20" | "copy") | ("auto" | "flv" | "copy") | ("auto" | "libx264" | "mpeg4" | "ffv1" | "copy") | ("auto" | "mjpeg" | "copy") | ("auto" | "libx265" | "copy") | ("auto" | "mpeg1video" | "copy") | ("auto" | "wrapped_avframe" | "copy") | ("libx264" | "libx265");
            video_crf?: number;
            video_custom_width_gif?: number;
            /** @enum {unknown} */
            video_resolution?: "7680:4320" | "3840:2160" | "2560:1440" | "1920:1080" | "1280:720" | "854:480" | "640:360" | "426:240" | "256:144";
            video_to_gif_compression?: number;
            /** @enum {unknown} */
            video_to_gif_optimize_static_bg?: true | false | "true" | "false";
            /** @enum {unknown} */
            video_to_gif_transparency?: true | false | "true" | "false";
            viewport_height?: number;
            viewport_width?: number;
            volume?: number;
            /** @enum {unknown} */
            wait_until?: "domcontentloaded" | "load" | "networkidle2" | "networkidle0";
            width?: number;
        };
        /**
         * @description Lower-case extension without a dot. Upper case and a leading dot are accepted, too.
         * @enum {string}
         */
        ConvertOutputFormat: "264" | "265" | "3g2" | "3gp" | "3gpp" | "3gpp2" | "7z" | "aac" | "aai" | "ac3" | "adoc" | "adts" | "adx" | "aif" | "aifc" | "aiff" | "amr" | "apng" | "asciidoc" | "asf" | "ast" | "au" | "avc" | "avi" | "avif" | "avs" | "azw" | "azw3" | "bmp" | "bw" | "bwf" | "caf" | "cb7" | "cbt" | "cbz" | "cin" | "cpio" | "csv" | "cur" | "dash" | "dbk" | "dcx" | "dds" | "dib" | "dif" | "divx" | "doc" | "docbook" | "docx" | "dokuwiki" | "dot" | "dotx" | "dpx" | "dts" | "dv" | "dvr-ms" | "eac3" | "ec3" | "emf" | "epi" | "eps" | "epsf" | "epsi" | "ept" | "epub" | "exr" | "f4a" | "f4v" | "farbfeld" | "fb2" | "ff" | "fit" | "fits" | "flac" | "flv" | "fodg" | "fodp" | "fods" | "fodt" | "fts" | "g722" | "gif" | "gsm" | "h264" | "h265" | "haddock" | "hdr" | "hevc" | "hls" | "htm" | "html" | "htmlz" | "icb" | "icml" | "ico" | "icon" | "ipl" | "ipynb" | "ircam" | "ismv" | "ivf" | "j2c" | "j2k" | "jats" | "jfif" | "jif" | "jira" | "jng" | "jp2" | "jpc" | "jpe" | "jpeg" | "jpf" | "jpg" | "jpg2" | "jpm" | "jps" | "jpx" | "json" | "jxl" | "latex" | "lit" | "lrf" | "m1v" | "m2p" | "m2t" | "m2ts" | "m2v" | "m4a" | "m4b" | "m4r" | "m4v" | "man" | "markdown" | "mat" | "md" | "mediawiki" | "miff" | "mjpeg" | "mjpg" | "mk3d" | "mka" | "mkv" | "mmf" | "mng" | "mobi" | "mogg" | "mov" | "mp2" | "mp3" | "mp4" | "mp4v" | "mpa" | "mpe" | "mpeg" | "mpg" | "mpv" | "ms" | "mts" | "mtv" | "mxf" | "nut" | "odg" | "odp" | "ods" | "odt" | "oga" | "ogg" | "ogv" | "ogx" | "opus" | "org" | "otg" | "otp" | "ots" | "ott" | "pam" | "pbm" | "pct" | "pcx" | "pdb" | "pdf" | "pfm" | "pgm" | "pgx" | "pict" | "pjpeg" | "png" | "pnm" | "pot" | "potx" | "ppm" | "pps" | "ppsx" | "ppt" | "pptx" | "prc" | "ps" | "psb" | "psd" | "ptif" | "qoi" | "qt" | "ra" | "ras" | "rf64" | "rgb" | "rgba" | "rgbe" | "rgf" | "rm" | "rmvb" | "rst" | "rtf" | "sf" | "sgi" | "six" | "sixel" | "slk" | "snd" | "sox" | "spx" | "sun" | "svg" | "swf" | "sylk" | "tab" | "tar" | "tar.bz2" | "tar.gz" | "tar.xz" | "tar.zst" | "targa" | "tbz" | "tbz2" | "tei" | "tex" | "texi" | "texinfo" | "textile" | "tga" | "tgz" | "tif" | "tiff" | "tod" | "trp" | "ts" | "tsv" | "tta" | "txt" | "txtz" | "txz" | "tzst" | "vda" | "vic" | "vicar" | "viff" | "vips" | "vob" | "voc" | "vro" | "vst" | "w64" | "wav" | "wave" | "wbmp" | "weba" | "webm" | "webp" | "wiki" | "wm" | "wma" | "wmf" | "wmv" | "wpg" | "wtv" | "wv" | "xbm" | "xht" | "xhtml" | "xls" | "xlsx" | "xlt" | "xltx" | "xpm" | "xv" | "xvid" | "xwiki" | "y4m" | "zimwiki" | "zip";
        ConvertTask: {
            /** @description Overrides the name of the file. */
            filename?: string;
            /** @description Fonts to draw the text with, in addition to those that are installed. The name or id of a task, or an array of them. */
            fonts?: string | string[];
            /** @description Task to read files from: the name of a task in the same job, or the id of an earlier task. Can be an array. */
            input: string | string[];
            /** @description File extension without a dot. */
            input_format?: components["schemas"]["ConvertInputFormat"];
            /** @constant */
            operation: "convert";
            /**
             * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
             * @default {}
             */
            options?: components["schemas"]["ConvertOptions"];
            /** @description File extension without a dot. */
            output_format: components["schemas"]["ConvertOutputFormat"];
        };
        /**
         * @description Lower-case extension without a dot. Upper case and a leading dot are accepted, too.
         * @enum {string}
         */
        CropInputFormat: "264" | "265" | "3g2" | "3gp" | "3gpp" | "3gpp2" | "aai" | "apng" | "arw" | "asf" | "avc" | "avi" | "avif" | "avs" | "blp" | "bmp" | "bw" | "cin" | "cr2" | "cr3" | "cur" | "dcm" | "dcx" | "dds" | "dib" | "dicom" | "dif" | "divx" | "dng" | "dpx" | "dv" | "dvr-ms" | "exr" | "f4v" | "farbfeld" | "ff" | "fit" | "fits" | "flc" | "fli" | "flv" | "fts" | "gif" | "h264" | "h265" | "hdr" | "heic" | "heif" | "hevc" | "hif" | "icb" | "icns" | "ico" | "icon" | "im" | "ipl" | "ismv" | "ivf" | "j2c" | "j2k" | "jfif" | "jif" | "jng" | "jp2" | "jpc" | "jpe" | "jpeg" | "jpf" | "jpg" | "jpg2" | "jpm" | "jps" | "jpx" | "jxl" | "m1v" | "m2p" | "m2t" | "m2ts" | "m2v" | "m4v" | "mat" | "miff" | "mjpeg" | "mjpg" | "mk3d" | "mkv" | "mng" | "mov" | "mp4" | "mp4v" | "mpe" | "mpeg" | "mpg" | "mpo" | "mpv" | "msp" | "mts" | "mtv" | "mxf" | "nef" | "nrw" | "nut" | "ogv" | "ogx" | "orf" | "palm" | "pam" | "pbm" | "pct" | "pcx" | "pdf" | "pef" | "pfm" | "pgm" | "pgx" | "pict" | "pix" | "pjpeg" | "png" | "pnm" | "ppm" | "psb" | "psd" | "ptif" | "qoi" | "qt" | "raf" | "ras" | "rgb" | "rgba" | "rgbe" | "rle" | "rm" | "rmvb" | "rw2" | "sgi" | "srw" | "sun" | "swf" | "targa" | "tga" | "tif" | "tiff" | "tod" | "trp" | "ts" | "vda" | "vic" | "vicar" | "viff" | "vips" | "vob" | "vro" | "vst" | "wbmp" | "webm" | "webp" | "wm" | "wmv" | "wpg" | "wtv" | "xbm" | "xcf" | "xpm" | "xv" | "xvid" | "y4m";
        /** @description Options of crop. GET /v1/query/options/crop lists the options of a pair of formats and their dependencies. */
        CropOptions: {
            aspect?: string;
            /** @enum {unknown} */
            "auto-orient"?: true | false | "true" | "false";
            height?: number;
            page_range?: string;
            password?: string;
            /** @enum {unknown} */
            strip?: true | false | "true" | "false";
            width?: number;
            x?: number;
            y?: number;
        };
        /**
         * @description Lower-case extension without a dot. Upper case and a leading dot are accepted, too.
         * @enum {string}
         */
        CropOutputFormat: "264" | "265" | "3g2" | "3gp" | "3gpp" | "3gpp2" | "aai" | "apng" | "asf" | "avc" | "avi" | "avif" | "avs" | "bmp" | "bw" | "cin" | "cur" | "dcx" | "dds" | "dib" | "dif" | "divx" | "dpx" | "dv" | "dvr-ms" | "exr" | "f4v" | "farbfeld" | "ff" | "fit" | "fits" | "flv" | "fts" | "gif" | "h264" | "h265" | "hdr" | "hevc" | "icb" | "ico" | "icon" | "ipl" | "ismv" | "ivf" | "j2c" | "j2k" | "jfif" | "jif" | "jng" | "jp2" | "jpc" | "jpe" | "jpeg" | "jpf" | "jpg" | "jpg2" | "jpm" | "jps" | "jpx" | "jxl" | "m1v" | "m2p" | "m2t" | "m2ts" | "m2v" | "m4v" | "mat" | "miff" | "mjpeg" | "mjpg" | "mk3d" | "mkv" | "mng" | "mov" | "mp4" | "mp4v" | "mpe" | "mpeg" | "mpg" | "mpv" | "mts" | "mtv" | "mxf" | "nut" | "ogv" | "ogx" | "pam" | "pbm" | "pct" | "pcx" | "pdf" | "pfm" | "pgm" | "pgx" | "pict" | "pjpeg" | "png" | "pnm" | "ppm" | "psb" | "psd" | "ptif" | "qoi" | "qt" | "ras" | "rgb" | "rgba" | "rgbe" | "rm" | "rmvb" | "sgi" | "sun" | "swf" | "targa" | "tga" | "tif" | "tiff" | "tod" | "trp" | "ts" | "vda" | "vic" | "vicar" | "viff" | "vips" | "vob" | "vro" | "vst" | "wbmp" | "webm" | "webp" | "wm" | "wmv" | "wpg" | "wtv" | "xbm" | "xpm" | "xv" | "xvid" | "y4m";
        CropTask: {
            /** @description Overrides the name of the file. */
            filename?: string;
            /** @description Task to read files from: the name of a task in the same job, or the id of an earlier task. Can be an array. */
            input: string | string[];
            /** @description File extension without a dot. */
            input_format?: components["schemas"]["CropInputFormat"];
            /** @constant */
            operation: "crop";
            /**
             * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
             * @default {}
             */
            options?: components["schemas"]["CropOptions"];
            /** @description File extension without a dot. */
            output_format?: components["schemas"]["CropOutputFormat"];
        };
        Delivery: {
            attempts: {
                /** Format: date-time */
                at: string;
                error?: string;
                latencyMs: number;
                /** @description HTTP status of the response, if there was one. */
                status: number | null;
            }[];
            /** Format: date-time */
            createdAt: string;
            /** @enum {string} */
            event: "job.created" | "job.completed" | "job.failed";
            id: string;
            /** @example 6af9126cc0830000f25c62d1 */
            job: string;
            nextAttemptAt: string | null;
            /** @enum {string} */
            status: "pending" | "delivered" | "failed";
        };
        DeliveryList: {
            docs: {
                attempts: {
                    /** Format: date-time */
                    at: string;
                    error?: string;
                    latencyMs: number;
                    /** @description HTTP status of the response, if there was one. */
                    status: number | null;
                }[];
                /** Format: date-time */
                createdAt: string;
                /** @enum {string} */
                event: "job.created" | "job.completed" | "job.failed";
                id: string;
                /** @example 6af9126cc0830000f25c62d1 */
                job: string;
                nextAttemptAt: string | null;
                /** @enum {string} */
                status: "pending" | "delivered" | "failed";
            }[];
        };
        DryRun: {
            /** @description Expected engine time of all tasks. */
            conversionSeconds: number;
            /** @description Conversion minutes that the account has left this month; null if they are not limited. */
            remainingMinutes: number | null;
            tasks: {
                /**
                 * @description measured: speed of such conversions, for the size of the input; history: average of the same conversion in the last 30 days; typical: default of the engine.
                 * @enum {string}
                 */
                basis: "measured" | "history" | "typical";
                conversionSeconds: number;
                /** @description Expected engine time and size of the output, if the input is known and such conversions were measured. */
                estimate?: {
                    bytes: number;
                    seconds: number;
                };
                name: string;
                operation: string;
            }[];
            /** @constant */
            valid: true;
            /** @description Unknown fields of the request that were ignored. Only in the response to the creation request; absent if there are none. */
            warnings?: string[];
        };
        Error: {
            errorCode: string;
            /** @description Maps each invalid field to its problems. */
            errors?: {
                [key: string]: string[];
            };
            msg: string;
            /**
             * @description Why a request that matches the schema was refused.
             * @enum {string}
             */
            reason?: "invalid_input" | "unsupported_format" | "invalid_options" | "invalid_url" | "address_refused" | "unknown_sign_in" | "conflicting_parameters" | "time_passed" | "invalid_message" | "unknown_field" | "forbidden_name";
            requestId?: string;
        };
        ExportBlobstoreTask: {
            blob?: string;
            blob_prefix?: string;
            /** @description Container of Azure Blob Storage. */
            container: string;
            /** @description Content-Disposition header of the stored files. */
            content_disposition?: string & (unknown & unknown);
            /** @description Media type of the stored files. Defaults to that of each file. */
            content_type?: string & (unknown & unknown);
            /** @description Store the files of a ZIP, such as those of HLS, below the prefix instead of the ZIP itself. They may not be compressed. */
            extract?: boolean;
            /** @description Task to read files from: the name of a task in the same job, or the id of an earlier task. Can be an array. */
            input: string | string[];
            /** @constant */
            operation: "export/blobstore";
            /** Format: password */
            sas_token?: string;
            /**
             * Format: password
             * @description Required unless sas_token is given.
             */
            storage_access_key?: string;
            storage_account: string & (unknown & unknown);
        } & ((unknown | unknown) & (unknown | unknown));
        ExportObjstoreATask: {
            /**
             * Format: password
             * @description Omit together with secret_access_key if the deployment itself has access to the bucket.
             */
            access_key_id?: string;
            /** @description Bucket of Amazon S3 or a compatible store. */
            bucket: string;
            /** @description Content-Disposition header of the stored files. */
            content_disposition?: string & (unknown & unknown);
            /** @description Media type of the stored files. Defaults to that of each file. */
            content_type?: string & (unknown & unknown);
            /**
             * @description Custom API endpoint. Defaults to that of the region.
             * @example https://example.com/file.png
             */
            endpoint?: string & (unknown & unknown);
            /** @description Store the files of a ZIP, such as those of HLS, below the prefix instead of the ZIP itself. They may not be compressed. */
            extract?: boolean;
            /** @description Task to read files from: the name of a task in the same job, or the id of an earlier task. Can be an array. */
            input: string | string[];
            key?: string;
            key_prefix?: string;
            /** @constant */
            operation: "export/objstore_a";
            region: string & (unknown & unknown);
            /** Format: password */
            secret_access_key?: string;
            /** Format: password */
            session_token?: string;
        } & (unknown & (unknown | unknown));
        ExportObjstoreBTask: {
            /** @description Bucket of Google Cloud Storage. */
            bucket: string;
            /** Format: password */
            client_email: string;
            /** @description Content-Disposition header of the stored files. */
            content_disposition?: string & (unknown & unknown);
            /** @description Media type of the stored files. Defaults to that of each file. */
            content_type?: string & (unknown & unknown);
            /** @description Store the files of a ZIP, such as those of HLS, below the prefix instead of the ZIP itself. They may not be compressed. */
            extract?: boolean;
            file?: string;
            file_prefix?: string;
            /** @description Task to read files from: the name of a task in the same job, or the id of an earlier task. Can be an array. */
            input: string | string[];
            /** @constant */
            operation: "export/objstore_b";
            /** Format: password */
            private_key: string;
            /** @description Google Cloud project. */
            project_id: string;
        } & (unknown | unknown);
        ExportSftpTask: {
            /** @description Store the files of a ZIP, such as those of HLS, below the prefix instead of the ZIP itself. They may not be compressed. */
            extract?: boolean;
            file_string?: string;
            host: string | number;
            /** @description SHA-256 fingerprint that the host key of the server must have. */
            host_key_fingerprint?: string;
            /** @description Task to read files from: the name of a task in the same job, or the id of an earlier task. Can be an array. */
            input: string | string[];
            /** @constant */
            operation: "export/sftp";
            /**
             * Format: password
             * @description Required unless private_key is given.
             */
            password?: string;
            path_prefix?: string;
            port?: number | string;
            /** Format: password */
            private_key?: string;
            /** Format: password */
            username: string;
        } & ((unknown | unknown) & (unknown | unknown));
        ExportUrlTask: {
            /**
             * @description Return one ZIP of all files instead of a link to each.
             * @default false
             */
            archive_multiple_files?: boolean;
            /** @description Overrides the name of the file. */
            filename?: string;
            /** @description Task to read files from: the name of a task in the same job, or the id of an earlier task. Can be an array. */
            input: string | string[];
            /** @constant */
            operation: "export/url";
        };
        /**
         * @description Lower-case extension without a dot. Upper case and a leading dot are accepted, too.
         * @enum {string}
         */
        Format: "264" | "265" | "3g2" | "3gp" | "3gpp" | "3gpp2" | "7z" | "8svx" | "aac" | "aai" | "abw" | "ac3" | "adoc" | "adts" | "adx" | "aif" | "aifc" | "aiff" | "amr" | "ape" | "apk" | "apng" | "ar" | "arj" | "arw" | "asciidoc" | "asf" | "ast" | "au" | "avc" | "avi" | "avif" | "avr" | "avs" | "azw" | "azw3" | "blp" | "bmp" | "bw" | "bwf" | "bz2" | "cab" | "caf" | "cb7" | "cbr" | "cbt" | "cbz" | "cin" | "cpio" | "cr2" | "cr3" | "creole" | "csv" | "cur" | "dash" | "dbk" | "dcm" | "dcx" | "dds" | "deb" | "dff" | "dib" | "dicom" | "dif" | "divx" | "dng" | "doc" | "docbook" | "docm" | "docx" | "dokuwiki" | "dot" | "dotm" | "dotx" | "dpx" | "dsf" | "dts" | "dv" | "dvr-ms" | "eac3" | "ec3" | "emf" | "eml" | "epi" | "eps" | "epsf" | "epsi" | "ept" | "epub" | "exr" | "f4a" | "f4v" | "farbfeld" | "fb2" | "ff" | "fit" | "fits" | "flac" | "flc" | "fli" | "flv" | "fodg" | "fodp" | "fods" | "fodt" | "fts" | "g722" | "gif" | "gnumeric" | "gsm" | "gz" | "gzip" | "h264" | "h265" | "haddock" | "hdr" | "heic" | "heif" | "hevc" | "hif" | "hls" | "htm" | "html" | "htmlz" | "icb" | "icml" | "icns" | "ico" | "icon" | "iff" | "im" | "ipl" | "ipynb" | "ircam" | "ismv" | "iso" | "ivf" | "j2c" | "j2k" | "jar" | "jats" | "jfif" | "jif" | "jira" | "jng" | "jp2" | "jpc" | "jpe" | "jpeg" | "jpf" | "jpg" | "jpg2" | "jpm" | "jps" | "jpx" | "json" | "jxl" | "key" | "latex" | "lha" | "lit" | "lrf" | "lzh" | "lzma" | "m1v" | "m2p" | "m2t" | "m2ts" | "m2v" | "m4a" | "m4b" | "m4r" | "m4v" | "man" | "markdown" | "mat" | "mbox" | "md" | "mediawiki" | "miff" | "mjpeg" | "mjpg" | "mk3d" | "mka" | "mkv" | "mlp" | "mmf" | "mng" | "mobi" | "mogg" | "mov" | "mp2" | "mp3" | "mp4" | "mp4v" | "mpa" | "mpc" | "mpe" | "mpeg" | "mpg" | "mpo" | "mpv" | "ms" | "msg" | "msp" | "mts" | "mtv" | "muse" | "mxf" | "nef" | "nist" | "nrw" | "numbers" | "nut" | "odg" | "odp" | "ods" | "odt" | "oga" | "ogg" | "ogv" | "ogx" | "opml" | "opus" | "orf" | "org" | "otg" | "otp" | "ots" | "ott" | "pages" | "palm" | "pam" | "pbm" | "pct" | "pcx" | "pdb" | "pdf" | "pef" | "pfm" | "pgm" | "pgx" | "pict" | "pix" | "pjpeg" | "png" | "pnm" | "pot" | "potm" | "potx" | "ppm" | "pps" | "ppsm" | "ppsx" | "ppt" | "pptm" | "pptx" | "prc" | "ps" | "psb" | "psd" | "ptif" | "pub" | "pvf" | "qoi" | "qt" | "ra" | "raf" | "rar" | "ras" | "rf64" | "rgb" | "rgba" | "rgbe" | "rgf" | "rle" | "rm" | "rmvb" | "rpm" | "rst" | "rtf" | "rw2" | "sf" | "sgi" | "six" | "sixel" | "slk" | "snd" | "sox" | "sph" | "spx" | "sqfs" | "squashfs" | "srw" | "stc" | "stw" | "sun" | "svg" | "svgz" | "swf" | "sxc" | "sxd" | "sxi" | "sxw" | "sylk" | "t2t" | "tab" | "tar" | "tar.bz2" | "tar.gz" | "tar.lzma" | "tar.xz" | "tar.z" | "tar.zst" | "targa" | "taz" | "tbz" | "tbz2" | "tei" | "tex" | "texi" | "texinfo" | "textile" | "tga" | "tgz" | "thd" | "tif" | "tiff" | "tikiwiki" | "tod" | "trp" | "truehd" | "ts" | "tsv" | "tta" | "twiki" | "txt" | "txtz" | "txz" | "tzst" | "vda" | "vic" | "vicar" | "viff" | "vimwiki" | "vips" | "vob" | "voc" | "vro" | "vsd" | "vsdm" | "vsdx" | "vst" | "vstx" | "w64" | "war" | "wav" | "wave" | "wbmp" | "weba" | "webm" | "webp" | "wiki" | "wim" | "wk1" | "wm" | "wma" | "wmf" | "wmv" | "wpd" | "wpg" | "wtv" | "wv" | "xar" | "xbm" | "xcf" | "xht" | "xhtml" | "xls" | "xlsm" | "xlsx" | "xlt" | "xltm" | "xltx" | "xml" | "xpi" | "xpm" | "xv" | "xvid" | "xwiki" | "xz" | "y4m" | "z" | "zimwiki" | "zip" | "zst" | "zstd";
        FormatList: {
            formats: {
                /** @description The format that this is another name of: `jpeg` is `jpg`. */
                alias_of?: string;
                ext: string;
                media_type: string;
            }[];
        };
        /** @description Body of errors that API Gateway itself returns. */
        GatewayError: {
            message: string;
        };
        Health: {
            engines: {
                /** @description What the engine last reported about its isolation; absent if it has not run yet. */
                isolation?: {
                    /** @description Each isolation barrier of its programs, with a reason if it is not in effect. */
                    barriers: {
                        [key: string]: {
                            reason?: string;
                            stands: boolean;
                        };
                    };
                    /** Format: date-time */
                    reportedAt: string;
                };
                /** @description Programs and packages that are not installed on this instance. Conversions that need them are unavailable. */
                missing?: {
                    /** @description A command that installs it. */
                    hint?: string;
                    name: string;
                    reason: string;
                }[];
                name: string;
                /** @description Why it is not usable. */
                reason?: string;
                /** @description Whether any of its conversions is available on this instance. */
                usable: boolean;
            }[];
            /** @constant */
            status: "ok";
            version: string;
            websocket: {
                socketIo: {
                    /** @description The `path` option of Socket.IO clients. */
                    path: string;
                    /**
                     * Format: uri
                     * @description URL for Socket.IO clients.
                     */
                    url: string;
                };
                /**
                 * Format: uri
                 * @description URL for plain WebSocket clients.
                 */
                url: string;
            };
        };
        ImageKeyList: {
            docs: {
                /** Format: date-time */
                createdAt: string;
                createdBy: {
                    /** @description The id of the key or person. */
                    id?: string;
                    /** @enum {string} */
                    type: "key" | "person" | "operator";
                };
                /** @example 6af9126cc0830000f25c62d1 */
                id: string;
                max_age: number;
                name: string;
                presets: {
                    [key: string]: string;
                };
                presets_only: boolean;
                signature_size: number;
                sources: ({
                    host: string;
                    prefix?: string;
                } | {
                    access_key_id: string;
                    bucket: string;
                    endpoint?: string;
                    prefix?: string;
                    region: string;
                })[];
                /**
                 * Format: uri
                 * @description Base URL of its images, for clients of imgproxy.
                 */
                url: string;
                watermark: string | null;
            }[];
        };
        ImportBase64Task: {
            /** @description Content as a data URI: data:<media_type>;base64,<data>. Padding is optional, white space is ignored, and the URL-safe alphabet is accepted. */
            file: string;
            /** @description File name including extension. */
            filename: string;
            /** @constant */
            operation: "import/base64";
        };
        ImportBlobstoreTask: {
            /** @description Blob name including path. */
            blob: string;
            /** @description Container of Azure Blob Storage. */
            container: string;
            /** @description Overrides the name of the file. */
            filename?: string;
            /** @constant */
            operation: "import/blobstore";
            /** Format: password */
            sas_token?: string;
            /**
             * Format: password
             * @description Required unless sas_token is given.
             */
            storage_access_key?: string;
            storage_account: string & (unknown & unknown);
        } & (unknown | unknown);
        ImportObjstoreATask: {
            /**
             * Format: password
             * @description Omit together with secret_access_key if the deployment itself has access to the bucket.
             */
            access_key_id?: string;
            /** @description Bucket of Amazon S3 or a compatible store. */
            bucket: string;
            /**
             * @description Custom API endpoint. Defaults to that of the region.
             * @example https://example.com/file.png
             */
            endpoint?: string & (unknown & unknown);
            /** @description Overrides the name of the file. */
            filename?: string;
            key?: string;
            /** @description Imports every file with this prefix, instead of key. Only available in jobs. */
            key_prefix?: string;
            /** @constant */
            operation: "import/objstore_a";
            region: string & (unknown & unknown);
            /** Format: password */
            secret_access_key?: string;
            /** Format: password */
            session_token?: string;
        } & (unknown & (unknown | unknown));
        ImportObjstoreBTask: {
            /** @description Bucket of Google Cloud Storage. */
            bucket: string;
            /** Format: password */
            client_email: string;
            /** @description Object name in the bucket, including path. */
            file: string;
            /** @description Overrides the name of the file. */
            filename?: string;
            /** @constant */
            operation: "import/objstore_b";
            /** Format: password */
            private_key: string;
            /** @description Google Cloud project. */
            project_id: string;
        };
        ImportSftpTask: {
            /** @description File name on the server, including path. */
            file_string: string;
            /** @description Overrides the name of the file. */
            filename?: string;
            host: string | number;
            /** @description SHA-256 fingerprint that the host key of the server must have. */
            host_key_fingerprint?: string;
            /** @constant */
            operation: "import/sftp";
            /**
             * Format: password
             * @description Required unless private_key is given.
             */
            password?: string;
            port?: number | string;
            /** Format: password */
            private_key?: string;
            /** Format: password */
            username: string;
        } & (unknown | unknown);
        ImportUploadTask: {
            /** @constant */
            operation: "import/upload";
        };
        ImportUrlTask: {
            /** @description Overrides the name of the file. */
            filename?: string;
            /** @description Request headers, such as credentials. They are not sent to another origin on a redirect. */
            headers?: {
                [key: string]: string;
            };
            /** @constant */
            operation: "import/url";
            /**
             * @description URL of the remote file.
             * @example https://example.com/file.png
             */
            url: string & (unknown & unknown);
        };
        ImportWebpageTask: {
            /** @description Overrides the name of the file. */
            filename?: string;
            /** @constant */
            operation: "import/webpage";
            /**
             * @description URL of the web page.
             * @example https://example.com/file.png
             */
            url: string & (unknown & unknown);
        };
        /**
         * @description Lower-case extension without a dot. Upper case and a leading dot are accepted, too.
         * @enum {string}
         */
        InvoiceEmbedInputFormat: "pdf";
        /** @description Options of invoice/embed. GET /v1/query/options/invoice/embed lists the options of a pair of formats and their dependencies. */
        InvoiceEmbedOptions: {
            password?: string;
        };
        /**
         * @description Lower-case extension without a dot. Upper case and a leading dot are accepted, too.
         * @enum {string}
         */
        InvoiceEmbedOutputFormat: "pdf";
        InvoiceEmbedTask: {
            /** @description Overrides the name of the file. */
            filename?: string;
            /** @description Task to read files from: the name of a task in the same job, or the id of an earlier task. Can be an array. */
            input: string | string[];
            /** @description File extension without a dot. */
            input_format?: components["schemas"]["InvoiceEmbedInputFormat"];
            /** @description The invoice as XML. The name or id of a task, or an array of them. */
            invoice: string | string[];
            /** @constant */
            operation: "invoice/embed";
            /**
             * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
             * @default {}
             */
            options?: components["schemas"]["InvoiceEmbedOptions"];
            /** @description File extension without a dot. */
            output_format?: components["schemas"]["InvoiceEmbedOutputFormat"];
        };
        /**
         * @description Lower-case extension without a dot. Upper case and a leading dot are accepted, too.
         * @enum {string}
         */
        InvoiceExtractInputFormat: "pdf";
        /** @description Options of invoice/extract. GET /v1/query/options/invoice/extract lists the options of a pair of formats and their dependencies. */
        InvoiceExtractOptions: {
            password?: string;
        };
        /**
         * @description Lower-case extension without a dot. Upper case and a leading dot are accepted, too.
         * @enum {string}
         */
        InvoiceExtractOutputFormat: "xml";
        InvoiceExtractTask: {
            /** @description Overrides the name of the file. */
            filename?: string;
            /** @description Task to read files from: the name of a task in the same job, or the id of an earlier task. Can be an array. */
            input: string | string[];
            /** @description File extension without a dot. */
            input_format?: components["schemas"]["InvoiceExtractInputFormat"];
            /** @constant */
            operation: "invoice/extract";
            /**
             * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
             * @default {}
             */
            options?: components["schemas"]["InvoiceExtractOptions"];
            /** @description File extension without a dot. */
            output_format?: components["schemas"]["InvoiceExtractOutputFormat"];
        };
        Job: {
            /** @description Engine time of the tasks in this response. */
            conversionSeconds?: number;
            /** Format: date-time */
            createdAt: string;
            endedAt: string | null;
            /** Format: date-time */
            expiresAt: string;
            /** @example 6af9126cc0830000f25c62d1 */
            id: string;
            result: {
                /** @enum {string} */
                errorCode?: "task_failed" | "task_deleted" | "task_canceled";
                msg?: string;
            };
            startedAt: string | null;
            /** @enum {string} */
            status: "created" | "processing" | "completed" | "failed";
            tag?: string;
            tasks?: {
                /** Format: date-time */
                createdAt: string;
                dependsOn: string[];
                endedAt: string | null;
                /**
                 * Format: date-time
                 * @description When the record is deleted. Files are deleted earlier.
                 */
                expiresAt: string;
                /** @example 6af9126cc0830000f25c62d1 */
                id: string;
                /** @example 6af9126cc0830000f25c62d1 */
                job?: string;
                /** @description The job without its tasks, with include=job. */
                jobDetails?: {
                    /** @example 6af9126cc0830000f25c62d1 */
                    id: string;
                } & {
                    [key: string]: unknown;
                };
                name: string;
                operation: string;
                /** @description The parameters of the task; secrets are masked or emptied. */
                payload: {
                    [key: string]: unknown;
                };
                /** @description Percent, if the engine reports it. */
                progress?: number;
                result: {
                    /** @description Engine time of the task, excluding waiting and transfers. Absent if no engine ran. */
                    conversionSeconds?: number;
                    /** @enum {string} */
                    errorCode?: "upload_timeout" | "engine_timeout" | "out_of_conversion_minutes" | "out_of_conversion_minutes_per_task" | "user_deleted_task" | "insufficient_permission" | "invalid_credentials" | "processing_failed";
                    /** @description Engine time that was expected of a large video or document, and the number of its parts if it was split. */
                    estimate?: {
                        conversionSeconds: number;
                        parts?: number;
                    };
                    /** @description Every output file, in order. */
                    files?: {
                        filename: string;
                        /** @description Extension without a dot, detected from the content. */
                        format: string;
                        media_type: string;
                        size: number;
                        /** Format: uri */
                        url: string;
                    }[];
                    form?: {
                        /**
                         * Format: uri
                         * @description Address for uploading the file in parts, such as the companionEndpoint of Uppy.
                         */
                        endpoint?: string;
                        parameters: {
                            [key: string]: string;
                        };
                        /** Format: uri */
                        url: string;
                    };
                    msg?: string;
                    /** @description How far a long video or document is that is converted in parts. Absent once the task has ended. */
                    parts?: {
                        done: number;
                        running: number;
                        /** @description Estimated time until the end of the task. */
                        seconds_left?: number;
                        total: number;
                    };
                    /** @description Why a large video or document was not converted in parts. */
                    split_reason?: string;
                    /**
                     * Format: uri
                     * @description Link to the first output file.
                     */
                    url?: string;
                    /** @description Parts of the input that could not be converted. Absent if there are none. */
                    warnings?: string[];
                } & {
                    [key: string]: unknown;
                };
                startedAt: string | null;
                /** @enum {string} */
                status: "created" | "processing" | "completed" | "canceled" | "failed" | "deleted";
                /**
                 * @description Present if the list exceeds the 6 MB limit of a response and payload, dependsOn and most of result are omitted. GET /v1/process/tasks/{taskId} returns them.
                 * @constant
                 */
                truncated?: true;
                /** Format: date-time */
                updatedAt: string;
                /** @example 6af9126cc0830000f25c62d1 */
                user: string;
                /** @description Increases with every change of this task or job. The state with the higher version is newer. */
                version: number;
                /** @description Unknown fields of the request that were ignored. Only in the response to the creation request; absent if there are none. */
                warnings?: string[];
            }[];
            /**
             * @description Present if the tasks exceed the 6 MB limit of a response. GET /v1/process/tasks?job=<id>&page=… lists them all.
             * @constant
             */
            tasksTruncated?: true;
            /** Format: date-time */
            updatedAt: string;
            /** @description Increases with every change of this task or job. The state with the higher version is newer. */
            version: number;
            /** @description Unknown fields of the request that were ignored. Only in the response to the creation request; absent if there are none. */
            warnings?: string[];
            /** @description The webhook of webhook_url. Only in the response to the creation request. */
            webhook?: {
                /** @example 6af9126cc0830000f25c62d1 */
                id: string;
                /** @description Secret for verifying signatures. Shown only once. */
                secret: string;
                url: string;
            };
        };
        JobPage: {
            docs: {
                /** @description Engine time of the tasks in this response. */
                conversionSeconds?: number;
                /** Format: date-time */
                createdAt: string;
                endedAt: string | null;
                /** Format: date-time */
                expiresAt: string;
                /** @example 6af9126cc0830000f25c62d1 */
                id: string;
                result: {
                    /** @enum {string} */
                    errorCode?: "task_failed" | "task_deleted" | "task_canceled";
                    msg?: string;
                };
                startedAt: string | null;
                /** @enum {string} */
                status: "created" | "processing" | "completed" | "failed";
                tag?: string;
                tasks?: {
                    /** Format: date-time */
                    createdAt: string;
                    dependsOn: string[];
                    endedAt: string | null;
                    /**
                     * Format: date-time
                     * @description When the record is deleted. Files are deleted earlier.
                     */
                    expiresAt: string;
                    /** @example 6af9126cc0830000f25c62d1 */
                    id: string;
                    /** @example 6af9126cc0830000f25c62d1 */
                    job?: string;
                    /** @description The job without its tasks, with include=job. */
                    jobDetails?: {
                        /** @example 6af9126cc0830000f25c62d1 */
                        id: string;
                    } & {
                        [key: string]: unknown;
                    };
                    name: string;
                    operation: string;
                    /** @description The parameters of the task; secrets are masked or emptied. */
                    payload: {
                        [key: string]: unknown;
                    };
                    /** @description Percent, if the engine reports it. */
                    progress?: number;
                    result: {
                        /** @description Engine time of the task, excluding waiting and transfers. Absent if no engine ran. */
                        conversionSeconds?: number;
                        /** @enum {string} */
                        errorCode?: "upload_timeout" | "engine_timeout" | "out_of_conversion_minutes" | "out_of_conversion_minutes_per_task" | "user_deleted_task" | "insufficient_permission" | "invalid_credentials" | "processing_failed";
                        /** @description Engine time that was expected of a large video or document, and the number of its parts if it was split. */
                        estimate?: {
                            conversionSeconds: number;
                            parts?: number;
                        };
                        /** @description Every output file, in order. */
                        files?: {
                            filename: string;
                            /** @description Extension without a dot, detected from the content. */
                            format: string;
                            media_type: string;
                            size: number;
                            /** Format: uri */
                            url: string;
                        }[];
                        form?: {
                            /**
                             * Format: uri
                             * @description Address for uploading the file in parts, such as the companionEndpoint of Uppy.
                             */
                            endpoint?: string;
                            parameters: {
                                [key: string]: string;
                            };
                            /** Format: uri */
                            url: string;
                        };
                        msg?: string;
                        /** @description How far a long video or document is that is converted in parts. Absent once the task has ended. */
                        parts?: {
                            done: number;
                            running: number;
                            /** @description Estimated time until the end of the task. */
                            seconds_left?: number;
                            total: number;
                        };
                        /** @description Why a large video or document was not converted in parts. */
                        split_reason?: string;
                        /**
                         * Format: uri
                         * @description Link to the first output file.
                         */
                        url?: string;
                        /** @description Parts of the input that could not be converted. Absent if there are none. */
                        warnings?: string[];
                    } & {
                        [key: string]: unknown;
                    };
                    startedAt: string | null;
                    /** @enum {string} */
                    status: "created" | "processing" | "completed" | "canceled" | "failed" | "deleted";
                    /**
                     * @description Present if the list exceeds the 6 MB limit of a response and payload, dependsOn and most of result are omitted. GET /v1/process/tasks/{taskId} returns them.
                     * @constant
                     */
                    truncated?: true;
                    /** Format: date-time */
                    updatedAt: string;
                    /** @example 6af9126cc0830000f25c62d1 */
                    user: string;
                    /** @description Increases with every change of this task or job. The state with the higher version is newer. */
                    version: number;
                    /** @description Unknown fields of the request that were ignored. Only in the response to the creation request; absent if there are none. */
                    warnings?: string[];
                }[];
                /**
                 * @description Present if the tasks exceed the 6 MB limit of a response. GET /v1/process/tasks?job=<id>&page=… lists them all.
                 * @constant
                 */
                tasksTruncated?: true;
                /** Format: date-time */
                updatedAt: string;
                /** @description Increases with every change of this task or job. The state with the higher version is newer. */
                version: number;
                /** @description Unknown fields of the request that were ignored. Only in the response to the creation request; absent if there are none. */
                warnings?: string[];
                /** @description The webhook of webhook_url. Only in the response to the creation request. */
                webhook?: {
                    /** @example 6af9126cc0830000f25c62d1 */
                    id: string;
                    /** @description Secret for verifying signatures. Shown only once. */
                    secret: string;
                    url: string;
                };
            }[];
            hasNextPage: boolean;
            hasPrevPage: boolean;
            limit: number;
            nextPage: number | null;
            page: number;
            /** @description Position of the first document of this page, from 1. */
            pagingCounter: number;
            prevPage: number | null;
            totalDocs: number;
            totalPages: number;
        };
        KeyList: {
            docs: {
                /** Format: date-time */
                createdAt: string;
                createdBy: {
                    /** @description The id of the key or person. */
                    id?: string;
                    /** @enum {string} */
                    type: "key" | "person" | "operator";
                };
                expiresAt: string | null;
                /** @example 6af9126cc0830000f25c62d1 */
                id: string;
                lastUsedAt: string | null;
                limits: {
                    formats?: string[];
                    maxFileBytes?: number;
                    minutesPerMonth?: number;
                    minutesPerTask?: number;
                    operations?: string[];
                    origins?: string[];
                    requestsPerMinute?: number;
                };
                name: string;
                scopes: ("read" | "process" | "account")[];
                /** @description First characters of the key, for identification. */
                start: string;
            }[];
        };
        McpResponse: ({
            error?: {
                code: number;
                message: string;
            } & {
                [key: string]: unknown;
            };
            id?: string | number;
            /** @constant */
            jsonrpc: "2.0";
            result?: {
                [key: string]: unknown;
            };
        } & {
            [key: string]: unknown;
        }) | ({
            error?: {
                code: number;
                message: string;
            } & {
                [key: string]: unknown;
            };
            id?: string | number;
            /** @constant */
            jsonrpc: "2.0";
            result?: {
                [key: string]: unknown;
            };
        } & {
            [key: string]: unknown;
        })[];
        Me: {
            account: {
                /** @example 6af9126cc0830000f25c62d1 */
                id: string;
                /** @enum {string} */
                kind: "personal" | "team";
                name: string;
            };
            /** @description The API key that was sent. */
            key?: {
                expiresAt: string | null;
                /** @example 6af9126cc0830000f25c62d1 */
                id: string;
                limits: {
                    formats?: string[];
                    maxFileBytes?: number;
                    minutesPerMonth?: number;
                    minutesPerTask?: number;
                    operations?: string[];
                    origins?: string[];
                    requestsPerMinute?: number;
                };
                name: string;
            };
            minutes: {
                /** @description Conversion minutes that the account can use; null if not limited. */
                allowanceMinutes: number | null;
                /** @description The current month, such as 2026-11. */
                month: string;
                /** @description Minutes that are neither used nor reserved by running tasks; null if not limited. */
                remainingMinutes: number | null;
            };
            /** @description The person who is signed in. */
            person?: {
                /** @description Accounts that the person is a member of. */
                accounts: {
                    /** @example 6af9126cc0830000f25c62d1 */
                    id: string;
                    /** @enum {string} */
                    kind: "personal" | "team";
                    name: string;
                    /** @enum {string} */
                    role: "owner" | "developer" | "viewer";
                }[];
                /** @description Value of the Lathe-CSRF header, required for state-changing requests of a page. */
                csrf?: string;
                email: string;
                id: string;
                name: string;
                /** @enum {string} */
                role: "owner" | "developer" | "viewer";
            };
            rateLimits: {
                /** @description Maximum requests per minute; null if not limited. */
                requestsPerMinute: number | null;
            };
            retention: {
                /** @description Time after which files are deleted, in seconds. */
                fileSeconds: number;
                /** @description Time after which jobs and tasks are deleted, in seconds. */
                recordSeconds: number;
            };
            /** @description Scopes of the caller. */
            scopes: ("read" | "process" | "account")[];
        };
        Member: {
            email: string;
            /**
             * Format: date-time
             * @description When the invitation expires.
             */
            expiresAt?: string;
            /** @example 6af9126cc0830000f25c62d1 */
            id: string;
            name?: string;
            /** @enum {string} */
            role: "owner" | "developer" | "viewer";
            /**
             * Format: date-time
             * @description When the member joined or was invited.
             */
            since: string;
            /** @enum {string} */
            status: "active" | "invited";
        };
        MemberList: {
            docs: {
                email: string;
                /**
                 * Format: date-time
                 * @description When the invitation expires.
                 */
                expiresAt?: string;
                /** @example 6af9126cc0830000f25c62d1 */
                id: string;
                name?: string;
                /** @enum {string} */
                role: "owner" | "developer" | "viewer";
                /**
                 * Format: date-time
                 * @description When the member joined or was invited.
                 */
                since: string;
                /** @enum {string} */
                status: "active" | "invited";
            }[];
        };
        /**
         * @description Lower-case extension without a dot. Upper case and a leading dot are accepted, too.
         * @enum {string}
         */
        MergeInputFormat: "aai" | "abw" | "apng" | "arw" | "avif" | "avs" | "blp" | "bmp" | "bw" | "cin" | "cr2" | "cr3" | "creole" | "csv" | "cur" | "dbk" | "dcm" | "dcx" | "dds" | "dib" | "dicom" | "dng" | "doc" | "docbook" | "docm" | "docx" | "dokuwiki" | "dot" | "dotm" | "dotx" | "dpx" | "emf" | "epi" | "eps" | "epsf" | "epsi" | "ept" | "epub" | "exr" | "farbfeld" | "fb2" | "ff" | "fit" | "fits" | "flc" | "fli" | "fodg" | "fodp" | "fods" | "fodt" | "fts" | "gif" | "gnumeric" | "haddock" | "hdr" | "heic" | "heif" | "hif" | "htm" | "html" | "icb" | "icns" | "ico" | "icon" | "im" | "ipl" | "ipynb" | "j2c" | "j2k" | "jats" | "jfif" | "jif" | "jira" | "jng" | "jp2" | "jpc" | "jpe" | "jpeg" | "jpf" | "jpg" | "jpg2" | "jpm" | "jps" | "jpx" | "jxl" | "key" | "latex" | "man" | "markdown" | "mat" | "md" | "mediawiki" | "miff" | "mng" | "mpo" | "msp" | "mtv" | "muse" | "nef" | "nrw" | "numbers" | "odg" | "odp" | "ods" | "odt" | "opml" | "orf" | "org" | "otg" | "otp" | "ots" | "ott" | "pages" | "palm" | "pam" | "pbm" | "pct" | "pcx" | "pdf" | "pef" | "pfm" | "pgm" | "pgx" | "pict" | "pix" | "pjpeg" | "png" | "pnm" | "pot" | "potm" | "potx" | "ppm" | "pps" | "ppsm" | "ppsx" | "ppt" | "pptm" | "pptx" | "ps" | "psb" | "psd" | "ptif" | "pub" | "qoi" | "raf" | "ras" | "rgb" | "rgba" | "rgbe" | "rle" | "rst" | "rtf" | "rw2" | "sgi" | "slk" | "srw" | "stc" | "stw" | "sun" | "svg" | "svgz" | "sxc" | "sxd" | "sxi" | "sxw" | "sylk" | "t2t" | "tab" | "targa" | "tex" | "textile" | "tga" | "tif" | "tiff" | "tikiwiki" | "tsv" | "twiki" | "txt" | "vda" | "vic" | "vicar" | "viff" | "vimwiki" | "vips" | "vsd" | "vsdm" | "vsdx" | "vst" | "vstx" | "wbmp" | "webp" | "wiki" | "wk1" | "wmf" | "wpd" | "wpg" | "xbm" | "xcf" | "xht" | "xhtml" | "xls" | "xlsm" | "xlsx" | "xlt" | "xltm" | "xltx" | "xpm" | "xv";
        /** @description Options of merge. GET /v1/query/options/merge lists the options of a pair of formats and their dependencies. */
        MergeOptions: {
            background?: string;
            /** @enum {unknown} */
            enlarge_images_to_fit?: true | false | "true" | "false";
            gif_delay?: number;
            gif_loop?: number;
            image_custom_height?: number;
            image_custom_width?: number;
            /** @enum {unknown} */
            pdf_image_alignment?: "Center" | "Top" | "Bottom" | "Left" | "Right" | "TopLeft" | "TopRight" | "BottomLeft" | "BottomRight";
            /** @enum {unknown} */
            pdf_orientation?: "portrait" | "landscape";
            /** @enum {unknown} */
            pdf_page_size?: "same-as-image" | "1240.2x1753.95" | "1753.95x2480.25" | "2480.25x3507.9" | "3507.9x4966.5" | "4966.5x7021.65" | "874.05x1240.2" | "620.1x874.05" | "1476.45x2084.7" | "1039.35x1476.45" | "1275x1650" | "1275x2100" | "1650x2550" | "1087.5x1575";
            /** @enum {unknown} */
            strip?: true | false | "true" | "false";
        };
        /**
         * @description Lower-case extension without a dot. Upper case and a leading dot are accepted, too.
         * @enum {string}
         */
        MergeOutputFormat: "gif" | "pdf";
        MergeTask: {
            /** @description Overrides the name of the file. */
            filename?: string;
            /** @description Task to read files from: the name of a task in the same job, or the id of an earlier task. Can be an array. */
            input: string | string[];
            /** @constant */
            operation: "merge";
            /**
             * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
             * @default {}
             */
            options?: components["schemas"]["MergeOptions"];
            /** @enum {string} */
            output_format: "pdf" | "gif";
        };
        NewImageKey: {
            /** Format: date-time */
            createdAt: string;
            createdBy: {
                /** @description The id of the key or person. */
                id?: string;
                /** @enum {string} */
                type: "key" | "person" | "operator";
            };
            /** @example 6af9126cc0830000f25c62d1 */
            id: string;
            /** @description Key of signatures, hexadecimal: IMGPROXY_KEY. Shown only once. */
            key: string;
            max_age: number;
            name: string;
            presets: {
                [key: string]: string;
            };
            presets_only: boolean;
            /** @description Salt of signatures, hexadecimal: IMGPROXY_SALT. Shown only once. */
            salt: string;
            signature_size: number;
            sources: ({
                host: string;
                prefix?: string;
            } | {
                access_key_id: string;
                bucket: string;
                endpoint?: string;
                prefix?: string;
                region: string;
            })[];
            /**
             * Format: uri
             * @description Base URL of its images, for clients of imgproxy.
             */
            url: string;
            watermark: string | null;
        };
        NewKey: {
            /** Format: date-time */
            createdAt: string;
            createdBy: {
                /** @description The id of the key or person. */
                id?: string;
                /** @enum {string} */
                type: "key" | "person" | "operator";
            };
            expiresAt: string | null;
            /** @example 6af9126cc0830000f25c62d1 */
            id: string;
            /** @description The key itself. Shown only once. */
            key: string;
            lastUsedAt: string | null;
            limits: {
                formats?: string[];
                maxFileBytes?: number;
                minutesPerMonth?: number;
                minutesPerTask?: number;
                operations?: string[];
                origins?: string[];
                requestsPerMinute?: number;
            };
            name: string;
            scopes: ("read" | "process" | "account")[];
            /** @description First characters of the key, for identification. */
            start: string;
        };
        OptionList: {
            /** @enum {string} */
            operation: "convert" | "compress" | "merge" | "crop" | "trim" | "pdf/split" | "pdf/extract" | "pdf/rotate" | "pdf/reorder" | "pdf/watermark" | "pdf/stamp" | "pdf/encrypt" | "pdf/decrypt" | "pdf/optimize" | "pdf/ocr" | "pdf/a" | "pdf/ua" | "pdf/forms" | "pdf/fill" | "pdf/sign" | "pdf/verify" | "pdf/redact" | "pdf/compare" | "invoice/embed" | "invoice/extract";
            options: {
                conditions: {
                    meta: {
                        label: string;
                        value: string | number | boolean;
                    }[];
                    name: string;
                    required: boolean;
                }[];
                /** @enum {string} */
                data_type: "boolean" | "string" | "number" | "integer";
                default_value: string;
                enum_values?: {
                    hint: string;
                    label?: string;
                    value: string;
                }[];
                hint: string;
                label?: string;
                name: string;
                properties?: {
                    max?: number;
                    min?: number;
                    pattern?: string;
                };
                type: string;
                units?: string;
            }[];
            sourceExt: string;
            targetExt: string;
        };
        /**
         * @description Lower-case extension without a dot. Upper case and a leading dot are accepted, too.
         * @enum {string}
         */
        PdfAInputFormat: "pdf";
        /** @description Options of pdf/a. GET /v1/query/options/pdf/a lists the options of a pair of formats and their dependencies. */
        PdfAOptions: {
            /** @enum {unknown} */
            level?: "1b" | "2b" | "2u" | "3b";
            password?: string;
        };
        /**
         * @description Lower-case extension without a dot. Upper case and a leading dot are accepted, too.
         * @enum {string}
         */
        PdfAOutputFormat: "pdf";
        PdfATask: {
            /** @description Files to embed. The name or id of a task, or an array of them. */
            attachments?: string | string[];
            /** @description Overrides the name of the file. */
            filename?: string;
            /** @description Task to read files from: the name of a task in the same job, or the id of an earlier task. Can be an array. */
            input: string | string[];
            /** @description File extension without a dot. */
            input_format?: components["schemas"]["PdfAInputFormat"];
            /** @constant */
            operation: "pdf/a";
            /**
             * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
             * @default {}
             */
            options?: components["schemas"]["PdfAOptions"];
            /** @description File extension without a dot. */
            output_format?: components["schemas"]["PdfAOutputFormat"];
        };
        /**
         * @description Lower-case extension without a dot. Upper case and a leading dot are accepted, too.
         * @enum {string}
         */
        PdfCompareInputFormat: "pdf";
        /** @description Options of pdf/compare. GET /v1/query/options/pdf/compare lists the options of a pair of formats and their dependencies. */
        PdfCompareOptions: {
            original_password?: string;
            /** @enum {unknown} */
            pages?: "changed" | "all";
            password?: string;
            resolution?: number;
            tolerance?: number;
        };
        /**
         * @description Lower-case extension without a dot. Upper case and a leading dot are accepted, too.
         * @enum {string}
         */
        PdfCompareOutputFormat: "json" | "pdf";
        PdfCompareTask: {
            /** @description Overrides the name of the file. */
            filename?: string;
            /** @description Task to read files from: the name of a task in the same job, or the id of an earlier task. Can be an array. */
            input: string | string[];
            /** @description File extension without a dot. */
            input_format?: components["schemas"]["PdfCompareInputFormat"];
            /** @constant */
            operation: "pdf/compare";
            /**
             * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
             * @default {}
             */
            options?: components["schemas"]["PdfCompareOptions"];
            /** @description The document to compare with. The name or id of a task, or an array of them. */
            original: string | string[];
            /** @description File extension without a dot. */
            output_format?: components["schemas"]["PdfCompareOutputFormat"];
        };
        /**
         * @description Lower-case extension without a dot. Upper case and a leading dot are accepted, too.
         * @enum {string}
         */
        PdfDecryptInputFormat: "pdf";
        /** @description Options of pdf/decrypt. GET /v1/query/options/pdf/decrypt lists the options of a pair of formats and their dependencies. */
        PdfDecryptOptions: {
            password?: string;
        };
        /**
         * @description Lower-case extension without a dot. Upper case and a leading dot are accepted, too.
         * @enum {string}
         */
        PdfDecryptOutputFormat: "pdf";
        PdfDecryptTask: {
            /** @description Overrides the name of the file. */
            filename?: string;
            /** @description Task to read files from: the name of a task in the same job, or the id of an earlier task. Can be an array. */
            input: string | string[];
            /** @description File extension without a dot. */
            input_format?: components["schemas"]["PdfDecryptInputFormat"];
            /** @constant */
            operation: "pdf/decrypt";
            /**
             * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
             * @default {}
             */
            options?: components["schemas"]["PdfDecryptOptions"];
            /** @description File extension without a dot. */
            output_format?: components["schemas"]["PdfDecryptOutputFormat"];
        };
        /**
         * @description Lower-case extension without a dot. Upper case and a leading dot are accepted, too.
         * @enum {string}
         */
        PdfEncryptInputFormat: "pdf";
        /** @description Options of pdf/encrypt. GET /v1/query/options/pdf/encrypt lists the options of a pair of formats and their dependencies. */
        PdfEncryptOptions: {
            /** @enum {unknown} */
            annotate?: true | false | "true" | "false";
            /** @enum {unknown} */
            copy?: true | false | "true" | "false";
            /** @enum {unknown} */
            forms?: true | false | "true" | "false";
            /** @enum {unknown} */
            modify?: true | false | "true" | "false";
            owner_password?: string;
            password?: string;
            /** @enum {unknown} */
            print?: "full" | "low" | "none";
            user_password?: string;
        };
        /**
         * @description Lower-case extension without a dot. Upper case and a leading dot are accepted, too.
         * @enum {string}
         */
        PdfEncryptOutputFormat: "pdf";
        PdfEncryptTask: {
            /** @description Overrides the name of the file. */
            filename?: string;
            /** @description Task to read files from: the name of a task in the same job, or the id of an earlier task. Can be an array. */
            input: string | string[];
            /** @description File extension without a dot. */
            input_format?: components["schemas"]["PdfEncryptInputFormat"];
            /** @constant */
            operation: "pdf/encrypt";
            /**
             * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
             * @default {}
             */
            options?: components["schemas"]["PdfEncryptOptions"];
            /** @description File extension without a dot. */
            output_format?: components["schemas"]["PdfEncryptOutputFormat"];
        };
        /**
         * @description Lower-case extension without a dot. Upper case and a leading dot are accepted, too.
         * @enum {string}
         */
        PdfExtractInputFormat: "pdf";
        /** @description Options of pdf/extract. GET /v1/query/options/pdf/extract lists the options of a pair of formats and their dependencies. */
        PdfExtractOptions: {
            page_range?: string;
            password?: string;
        };
        /**
         * @description Lower-case extension without a dot. Upper case and a leading dot are accepted, too.
         * @enum {string}
         */
        PdfExtractOutputFormat: "pdf";
        PdfExtractTask: {
            /** @description Overrides the name of the file. */
            filename?: string;
            /** @description Task to read files from: the name of a task in the same job, or the id of an earlier task. Can be an array. */
            input: string | string[];
            /** @description File extension without a dot. */
            input_format?: components["schemas"]["PdfExtractInputFormat"];
            /** @constant */
            operation: "pdf/extract";
            /**
             * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
             * @default {}
             */
            options?: components["schemas"]["PdfExtractOptions"];
            /** @description File extension without a dot. */
            output_format?: components["schemas"]["PdfExtractOutputFormat"];
        };
        /**
         * @description Lower-case extension without a dot. Upper case and a leading dot are accepted, too.
         * @enum {string}
         */
        PdfFillInputFormat: "pdf";
        /** @description Options of pdf/fill. GET /v1/query/options/pdf/fill lists the options of a pair of formats and their dependencies. */
        PdfFillOptions: {
            /** @enum {unknown} */
            flatten?: true | false | "true" | "false";
            form_data?: string;
            /** @enum {unknown} */
            merge?: true | false | "true" | "false";
            name_pattern?: string;
            /** @enum {unknown} */
            on_mismatch?: "fail" | "warn";
            password?: string;
        };
        /**
         * @description Lower-case extension without a dot. Upper case and a leading dot are accepted, too.
         * @enum {string}
         */
        PdfFillOutputFormat: "pdf";
        PdfFillTask: {
            /** @description Values of the fields, as JSON or CSV. Several records give several files. The name or id of a task, or an array of them. */
            data?: string | string[];
            /** @description Overrides the name of the file. */
            filename?: string;
            /** @description Task to read files from: the name of a task in the same job, or the id of an earlier task. Can be an array. */
            input: string | string[];
            /** @description File extension without a dot. */
            input_format?: components["schemas"]["PdfFillInputFormat"];
            /** @constant */
            operation: "pdf/fill";
            /**
             * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
             * @default {}
             */
            options?: components["schemas"]["PdfFillOptions"];
            /** @description File extension without a dot. */
            output_format?: components["schemas"]["PdfFillOutputFormat"];
        };
        /**
         * @description Lower-case extension without a dot. Upper case and a leading dot are accepted, too.
         * @enum {string}
         */
        PdfFormsInputFormat: "pdf";
        /** @description Options of pdf/forms. GET /v1/query/options/pdf/forms lists the options of a pair of formats and their dependencies. */
        PdfFormsOptions: {
            password?: string;
        };
        /**
         * @description Lower-case extension without a dot. Upper case and a leading dot are accepted, too.
         * @enum {string}
         */
        PdfFormsOutputFormat: "json";
        PdfFormsTask: {
            /** @description Overrides the name of the file. */
            filename?: string;
            /** @description Task to read files from: the name of a task in the same job, or the id of an earlier task. Can be an array. */
            input: string | string[];
            /** @description File extension without a dot. */
            input_format?: components["schemas"]["PdfFormsInputFormat"];
            /** @constant */
            operation: "pdf/forms";
            /**
             * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
             * @default {}
             */
            options?: components["schemas"]["PdfFormsOptions"];
            /** @description File extension without a dot. */
            output_format?: components["schemas"]["PdfFormsOutputFormat"];
        };
        /**
         * @description Lower-case extension without a dot. Upper case and a leading dot are accepted, too.
         * @enum {string}
         */
        PdfOcrInputFormat: "avif" | "gif" | "jfif" | "jif" | "jpe" | "jpeg" | "jpg" | "jps" | "mpo" | "pdf" | "pjpeg" | "png" | "ptif" | "tif" | "tiff" | "webp";
        /** @description Options of pdf/ocr. GET /v1/query/options/pdf/ocr lists the options of a pair of formats and their dependencies. */
        PdfOcrOptions: {
            /** @enum {unknown} */
            clean?: true | false | "true" | "false";
            /** @enum {unknown} */
            deskew?: true | false | "true" | "false";
            /** @enum {unknown} */
            existing_text?: "skip" | "keep" | "redo" | "force";
            /** @enum {unknown} */
            invalidate_digital_signatures?: true | false | "true" | "false";
            languages?: string;
            password?: string;
            /** @enum {unknown} */
            rotate_pages?: true | false | "true" | "false";
        };
        /**
         * @description Lower-case extension without a dot. Upper case and a leading dot are accepted, too.
         * @enum {string}
         */
        PdfOcrOutputFormat: "pdf" | "txt";
        PdfOcrTask: {
            /** @description Overrides the name of the file. */
            filename?: string;
            /** @description Task to read files from: the name of a task in the same job, or the id of an earlier task. Can be an array. */
            input: string | string[];
            /** @description File extension without a dot. */
            input_format?: components["schemas"]["PdfOcrInputFormat"];
            /** @constant */
            operation: "pdf/ocr";
            /**
             * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
             * @default {}
             */
            options?: components["schemas"]["PdfOcrOptions"];
            /** @description File extension without a dot. */
            output_format?: components["schemas"]["PdfOcrOutputFormat"];
        };
        /**
         * @description Lower-case extension without a dot. Upper case and a leading dot are accepted, too.
         * @enum {string}
         */
        PdfOptimizeInputFormat: "pdf";
        /** @description Options of pdf/optimize. GET /v1/query/options/pdf/optimize lists the options of a pair of formats and their dependencies. */
        PdfOptimizeOptions: {
            /** @enum {unknown} */
            compress_pdf?: "by_quality" | "by_percentage" | "by_size" | "lossless";
            image_dpi?: number;
            image_quality?: number;
            /** @enum {unknown} */
            linearize?: true | false | "true" | "false";
            password?: string;
            pdf_compress_max_filesize?: number;
            pdf_compress_percentage?: number;
            /** @enum {unknown} */
            remove_metadata?: true | false | "true" | "false";
            /** @enum {unknown} */
            signatures?: "fail" | "remove";
        };
        /**
         * @description Lower-case extension without a dot. Upper case and a leading dot are accepted, too.
         * @enum {string}
         */
        PdfOptimizeOutputFormat: "pdf";
        PdfOptimizeTask: {
            /** @description Overrides the name of the file. */
            filename?: string;
            /** @description Task to read files from: the name of a task in the same job, or the id of an earlier task. Can be an array. */
            input: string | string[];
            /** @description File extension without a dot. */
            input_format?: components["schemas"]["PdfOptimizeInputFormat"];
            /** @constant */
            operation: "pdf/optimize";
            /**
             * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
             * @default {}
             */
            options?: components["schemas"]["PdfOptimizeOptions"];
            /** @description File extension without a dot. */
            output_format?: components["schemas"]["PdfOptimizeOutputFormat"];
        };
        /**
         * @description Lower-case extension without a dot. Upper case and a leading dot are accepted, too.
         * @enum {string}
         */
        PdfRedactInputFormat: "pdf";
        /** @description Options of pdf/redact. GET /v1/query/options/pdf/redact lists the options of a pair of formats and their dependencies. */
        PdfRedactOptions: {
            areas?: string;
            /** @enum {unknown} */
            attachments?: "remove" | "keep";
            /** @enum {unknown} */
            case_sensitive?: true | false | "true" | "false";
            color?: string;
            /** @enum {unknown} */
            if_nothing_found?: "fail" | "warn";
            /** @enum {unknown} */
            if_unreadable?: "fail" | "warn";
            label?: string;
            password?: string;
            pattern?: string;
            regex?: string;
            /** @enum {unknown} */
            remove_metadata?: true | false | "true" | "false";
            text?: string;
            /** @enum {unknown} */
            whole_words?: true | false | "true" | "false";
        };
        /**
         * @description Lower-case extension without a dot. Upper case and a leading dot are accepted, too.
         * @enum {string}
         */
        PdfRedactOutputFormat: "pdf";
        PdfRedactTask: {
            /** @description Overrides the name of the file. */
            filename?: string;
            /** @description Task to read files from: the name of a task in the same job, or the id of an earlier task. Can be an array. */
            input: string | string[];
            /** @description File extension without a dot. */
            input_format?: components["schemas"]["PdfRedactInputFormat"];
            /** @constant */
            operation: "pdf/redact";
            /**
             * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
             * @default {}
             */
            options?: components["schemas"]["PdfRedactOptions"];
            /** @description File extension without a dot. */
            output_format?: components["schemas"]["PdfRedactOutputFormat"];
        };
        /**
         * @description Lower-case extension without a dot. Upper case and a leading dot are accepted, too.
         * @enum {string}
         */
        PdfReorderInputFormat: "pdf";
        /** @description Options of pdf/reorder. GET /v1/query/options/pdf/reorder lists the options of a pair of formats and their dependencies. */
        PdfReorderOptions: {
            order?: string;
            password?: string;
            /** @enum {unknown} */
            rest?: "append" | "drop";
        };
        /**
         * @description Lower-case extension without a dot. Upper case and a leading dot are accepted, too.
         * @enum {string}
         */
        PdfReorderOutputFormat: "pdf";
        PdfReorderTask: {
            /** @description Overrides the name of the file. */
            filename?: string;
            /** @description Task to read files from: the name of a task in the same job, or the id of an earlier task. Can be an array. */
            input: string | string[];
            /** @description File extension without a dot. */
            input_format?: components["schemas"]["PdfReorderInputFormat"];
            /** @constant */
            operation: "pdf/reorder";
            /**
             * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
             * @default {}
             */
            options?: components["schemas"]["PdfReorderOptions"];
            /** @description File extension without a dot. */
            output_format?: components["schemas"]["PdfReorderOutputFormat"];
        };
        /**
         * @description Lower-case extension without a dot. Upper case and a leading dot are accepted, too.
         * @enum {string}
         */
        PdfRotateInputFormat: "pdf";
        /** @description Options of pdf/rotate. GET /v1/query/options/pdf/rotate lists the options of a pair of formats and their dependencies. */
        PdfRotateOptions: {
            /** @enum {unknown} */
            angle?: "90" | "180" | "270" | 90 | 180 | 270;
            page_range?: string;
            password?: string;
        };
        /**
         * @description Lower-case extension without a dot. Upper case and a leading dot are accepted, too.
         * @enum {string}
         */
        PdfRotateOutputFormat: "pdf";
        PdfRotateTask: {
            /** @description Overrides the name of the file. */
            filename?: string;
            /** @description Task to read files from: the name of a task in the same job, or the id of an earlier task. Can be an array. */
            input: string | string[];
            /** @description File extension without a dot. */
            input_format?: components["schemas"]["PdfRotateInputFormat"];
            /** @constant */
            operation: "pdf/rotate";
            /**
             * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
             * @default {}
             */
            options?: components["schemas"]["PdfRotateOptions"];
            /** @description File extension without a dot. */
            output_format?: components["schemas"]["PdfRotateOutputFormat"];
        };
        /**
         * @description Lower-case extension without a dot. Upper case and a leading dot are accepted, too.
         * @enum {string}
         */
        PdfSignInputFormat: "pdf";
        /** @description Options of pdf/sign. GET /v1/query/options/pdf/sign lists the options of a pair of formats and their dependencies. */
        PdfSignOptions: {
            certificate?: string;
            certificate_password?: string;
            /** @enum {unknown} */
            certify?: "no_changes" | "forms" | "annotations";
            contact?: string;
            /** @enum {unknown} */
            digest?: "sha256" | "sha384" | "sha512";
            field?: string;
            height?: number;
            left?: number;
            location?: string;
            margin?: number;
            name?: string;
            page?: number;
            password?: string;
            /** @enum {unknown} */
            position?: "top-left" | "top" | "top-right" | "left" | "center" | "right" | "bottom-left" | "bottom" | "bottom-right";
            reason?: string;
            text?: string;
            timestamp?: string;
            top?: number;
            /** @enum {unknown} */
            visible?: true | false | "true" | "false";
            width?: number;
        };
        /**
         * @description Lower-case extension without a dot. Upper case and a leading dot are accepted, too.
         * @enum {string}
         */
        PdfSignOutputFormat: "pdf";
        PdfSignTask: {
            /** @description Overrides the name of the file. */
            filename?: string;
            /** @description Task to read files from: the name of a task in the same job, or the id of an earlier task. Can be an array. */
            input: string | string[];
            /** @description File extension without a dot. */
            input_format?: components["schemas"]["PdfSignInputFormat"];
            /** @constant */
            operation: "pdf/sign";
            /**
             * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
             * @default {}
             */
            options?: components["schemas"]["PdfSignOptions"];
            /** @description File extension without a dot. */
            output_format?: components["schemas"]["PdfSignOutputFormat"];
            /** @description The picture to draw. The name or id of a task, or an array of them. */
            picture?: string | string[];
        };
        /**
         * @description Lower-case extension without a dot. Upper case and a leading dot are accepted, too.
         * @enum {string}
         */
        PdfSplitInputFormat: "pdf";
        /** @description Options of pdf/split. GET /v1/query/options/pdf/split lists the options of a pair of formats and their dependencies. */
        PdfSplitOptions: {
            max_size?: number;
            /** @enum {unknown} */
            mode?: "pages" | "ranges" | "bookmarks" | "size";
            name_pattern?: string;
            pages_per_file?: number;
            password?: string;
            ranges?: string;
        };
        /**
         * @description Lower-case extension without a dot. Upper case and a leading dot are accepted, too.
         * @enum {string}
         */
        PdfSplitOutputFormat: "pdf";
        PdfSplitTask: {
            /** @description Overrides the name of the file. */
            filename?: string;
            /** @description Task to read files from: the name of a task in the same job, or the id of an earlier task. Can be an array. */
            input: string | string[];
            /** @description File extension without a dot. */
            input_format?: components["schemas"]["PdfSplitInputFormat"];
            /** @constant */
            operation: "pdf/split";
            /**
             * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
             * @default {}
             */
            options?: components["schemas"]["PdfSplitOptions"];
            /** @description File extension without a dot. */
            output_format?: components["schemas"]["PdfSplitOutputFormat"];
        };
        /**
         * @description Lower-case extension without a dot. Upper case and a leading dot are accepted, too.
         * @enum {string}
         */
        PdfStampInputFormat: "pdf";
        /** @description Options of pdf/stamp. GET /v1/query/options/pdf/stamp lists the options of a pair of formats and their dependencies. */
        PdfStampOptions: {
            bates_digits?: number;
            bates_prefix?: string;
            bates_start?: number;
            bates_suffix?: string;
            color?: string;
            /** @enum {unknown} */
            date_format?: "YYYY-MM-DD" | "DD.MM.YYYY" | "DD/MM/YYYY" | "MM/DD/YYYY";
            first_number?: number;
            /** @enum {unknown} */
            font?: "sans" | "serif" | "mono";
            margin?: number;
            opacity?: number;
            page_range?: string;
            password?: string;
            /** @enum {unknown} */
            position?: "top-left" | "top" | "top-right" | "left" | "center" | "right" | "bottom-left" | "bottom" | "bottom-right";
            rotation?: number;
            size?: number;
            text?: string;
        };
        /**
         * @description Lower-case extension without a dot. Upper case and a leading dot are accepted, too.
         * @enum {string}
         */
        PdfStampOutputFormat: "pdf";
        PdfStampTask: {
            /** @description Overrides the name of the file. */
            filename?: string;
            /** @description Task to read files from: the name of a task in the same job, or the id of an earlier task. Can be an array. */
            input: string | string[];
            /** @description File extension without a dot. */
            input_format?: components["schemas"]["PdfStampInputFormat"];
            /** @constant */
            operation: "pdf/stamp";
            /**
             * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
             * @default {}
             */
            options?: components["schemas"]["PdfStampOptions"];
            /** @description File extension without a dot. */
            output_format?: components["schemas"]["PdfStampOutputFormat"];
            /** @description The picture to draw. The name or id of a task, or an array of them. */
            picture?: string | string[];
        };
        /**
         * @description Lower-case extension without a dot. Upper case and a leading dot are accepted, too.
         * @enum {string}
         */
        PdfUaInputFormat: "abw" | "creole" | "csv" | "dbk" | "doc" | "docbook" | "docm" | "docx" | "dokuwiki" | "dot" | "dotm" | "dotx" | "epub" | "fb2" | "fodp" | "fods" | "fodt" | "gnumeric" | "haddock" | "htm" | "html" | "ipynb" | "jats" | "jira" | "latex" | "man" | "markdown" | "md" | "mediawiki" | "muse" | "odp" | "ods" | "odt" | "opml" | "org" | "otp" | "ots" | "ott" | "pdf" | "pot" | "potm" | "potx" | "pps" | "ppsm" | "ppsx" | "ppt" | "pptm" | "pptx" | "rst" | "rtf" | "slk" | "stc" | "stw" | "sxc" | "sxi" | "sxw" | "sylk" | "t2t" | "tab" | "tex" | "textile" | "tikiwiki" | "tsv" | "twiki" | "txt" | "vimwiki" | "wiki" | "wk1" | "wpd" | "xht" | "xhtml" | "xls" | "xlsm" | "xlsx" | "xlt" | "xltm" | "xltx";
        /** @description Options of pdf/ua. GET /v1/query/options/pdf/ua lists the options of a pair of formats and their dependencies. */
        PdfUaOptions: {
            /** @enum {unknown} */
            csv_delimiter?: "comma" | "semicolon" | "tab" | "pipe";
            /** @enum {unknown} */
            input_encoding?: "auto" | "utf-8" | "utf-16le" | "utf-16be" | "windows-1252" | "iso-8859-1" | "iso-8859-15" | "macintosh" | "iso-8859-2" | "windows-1250" | "windows-1257" | "windows-1251" | "koi8-r" | "koi8-u" | "windows-1253" | "windows-1254" | "windows-1255" | "windows-1256" | "windows-1258" | "windows-874" | "shift_jis" | "euc-jp" | "iso-2022-jp" | "gbk" | "gb18030" | "big5" | "euc-kr";
            language?: string;
            password?: string;
        };
        /**
         * @description Lower-case extension without a dot. Upper case and a leading dot are accepted, too.
         * @enum {string}
         */
        PdfUaOutputFormat: "pdf";
        PdfUaTask: {
            /** @description Overrides the name of the file. */
            filename?: string;
            /** @description Task to read files from: the name of a task in the same job, or the id of an earlier task. Can be an array. */
            input: string | string[];
            /** @description File extension without a dot. */
            input_format?: components["schemas"]["PdfUaInputFormat"];
            /** @constant */
            operation: "pdf/ua";
            /**
             * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
             * @default {}
             */
            options?: components["schemas"]["PdfUaOptions"];
            /** @description File extension without a dot. */
            output_format?: components["schemas"]["PdfUaOutputFormat"];
        };
        /**
         * @description Lower-case extension without a dot. Upper case and a leading dot are accepted, too.
         * @enum {string}
         */
        PdfVerifyInputFormat: "pdf";
        /** @description Options of pdf/verify. GET /v1/query/options/pdf/verify lists the options of a pair of formats and their dependencies. */
        PdfVerifyOptions: {
            password?: string;
        };
        /**
         * @description Lower-case extension without a dot. Upper case and a leading dot are accepted, too.
         * @enum {string}
         */
        PdfVerifyOutputFormat: "json";
        PdfVerifyTask: {
            /** @description Overrides the name of the file. */
            filename?: string;
            /** @description Task to read files from: the name of a task in the same job, or the id of an earlier task. Can be an array. */
            input: string | string[];
            /** @description File extension without a dot. */
            input_format?: components["schemas"]["PdfVerifyInputFormat"];
            /** @constant */
            operation: "pdf/verify";
            /**
             * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
             * @default {}
             */
            options?: components["schemas"]["PdfVerifyOptions"];
            /** @description File extension without a dot. */
            output_format?: components["schemas"]["PdfVerifyOutputFormat"];
            /** @description Certificates of the authorities that you trust, in PEM. The name or id of a task, or an array of them. */
            trust?: string | string[];
        };
        /**
         * @description Lower-case extension without a dot. Upper case and a leading dot are accepted, too.
         * @enum {string}
         */
        PdfWatermarkInputFormat: "pdf";
        /** @description Options of pdf/watermark. GET /v1/query/options/pdf/watermark lists the options of a pair of formats and their dependencies. */
        PdfWatermarkOptions: {
            color?: string;
            /** @enum {unknown} */
            date_format?: "YYYY-MM-DD" | "DD.MM.YYYY" | "DD/MM/YYYY" | "MM/DD/YYYY";
            /** @enum {unknown} */
            font?: "sans" | "serif" | "mono";
            gap?: number;
            /** @enum {unknown} */
            layer?: "front" | "behind";
            margin?: number;
            opacity?: number;
            page_range?: string;
            password?: string;
            /** @enum {unknown} */
            position?: "top-left" | "top" | "top-right" | "left" | "center" | "right" | "bottom-left" | "bottom" | "bottom-right";
            rotation?: number;
            size?: number;
            text?: string;
            /** @enum {unknown} */
            tile?: true | false | "true" | "false";
        };
        /**
         * @description Lower-case extension without a dot. Upper case and a leading dot are accepted, too.
         * @enum {string}
         */
        PdfWatermarkOutputFormat: "pdf";
        PdfWatermarkTask: {
            /** @description Overrides the name of the file. */
            filename?: string;
            /** @description Task to read files from: the name of a task in the same job, or the id of an earlier task. Can be an array. */
            input: string | string[];
            /** @description File extension without a dot. */
            input_format?: components["schemas"]["PdfWatermarkInputFormat"];
            /** @constant */
            operation: "pdf/watermark";
            /**
             * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
             * @default {}
             */
            options?: components["schemas"]["PdfWatermarkOptions"];
            /** @description File extension without a dot. */
            output_format?: components["schemas"]["PdfWatermarkOutputFormat"];
            /** @description The picture to draw. The name or id of a task, or an array of them. */
            picture?: string | string[];
        };
        SignedOut: {
            /**
             * Format: uri
             * @description URL to open, which also ends the session at the issuer.
             */
            url: string;
        };
        SignedPart: {
            /** Format: uri */
            url: string;
        };
        StartedUpload: {
            key: string;
            /** @description Size of every part but the last, if the request declared the size. */
            partSize?: number;
            uploadId: string;
        };
        Task: {
            /** Format: date-time */
            createdAt: string;
            dependsOn: string[];
            endedAt: string | null;
            /**
             * Format: date-time
             * @description When the record is deleted. Files are deleted earlier.
             */
            expiresAt: string;
            /** @example 6af9126cc0830000f25c62d1 */
            id: string;
            /** @example 6af9126cc0830000f25c62d1 */
            job?: string;
            /** @description The job without its tasks, with include=job. */
            jobDetails?: {
                /** @example 6af9126cc0830000f25c62d1 */
                id: string;
            } & {
                [key: string]: unknown;
            };
            name: string;
            operation: string;
            /** @description The parameters of the task; secrets are masked or emptied. */
            payload: {
                [key: string]: unknown;
            };
            /** @description Percent, if the engine reports it. */
            progress?: number;
            result: {
                /** @description Engine time of the task, excluding waiting and transfers. Absent if no engine ran. */
                conversionSeconds?: number;
                /** @enum {string} */
                errorCode?: "upload_timeout" | "engine_timeout" | "out_of_conversion_minutes" | "out_of_conversion_minutes_per_task" | "user_deleted_task" | "insufficient_permission" | "invalid_credentials" | "processing_failed";
                /** @description Engine time that was expected of a large video or document, and the number of its parts if it was split. */
                estimate?: {
                    conversionSeconds: number;
                    parts?: number;
                };
                /** @description Every output file, in order. */
                files?: {
                    filename: string;
                    /** @description Extension without a dot, detected from the content. */
                    format: string;
                    media_type: string;
                    size: number;
                    /** Format: uri */
                    url: string;
                }[];
                form?: {
                    /**
                     * Format: uri
                     * @description Address for uploading the file in parts, such as the companionEndpoint of Uppy.
                     */
                    endpoint?: string;
                    parameters: {
                        [key: string]: string;
                    };
                    /** Format: uri */
                    url: string;
                };
                msg?: string;
                /** @description How far a long video or document is that is converted in parts. Absent once the task has ended. */
                parts?: {
                    done: number;
                    running: number;
                    /** @description Estimated time until the end of the task. */
                    seconds_left?: number;
                    total: number;
                };
                /** @description Why a large video or document was not converted in parts. */
                split_reason?: string;
                /**
                 * Format: uri
                 * @description Link to the first output file.
                 */
                url?: string;
                /** @description Parts of the input that could not be converted. Absent if there are none. */
                warnings?: string[];
            } & {
                [key: string]: unknown;
            };
            startedAt: string | null;
            /** @enum {string} */
            status: "created" | "processing" | "completed" | "canceled" | "failed" | "deleted";
            /**
             * @description Present if the list exceeds the 6 MB limit of a response and payload, dependsOn and most of result are omitted. GET /v1/process/tasks/{taskId} returns them.
             * @constant
             */
            truncated?: true;
            /** Format: date-time */
            updatedAt: string;
            /** @example 6af9126cc0830000f25c62d1 */
            user: string;
            /** @description Increases with every change of this task or job. The state with the higher version is newer. */
            version: number;
            /** @description Unknown fields of the request that were ignored. Only in the response to the creation request; absent if there are none. */
            warnings?: string[];
        };
        TaskDefinition: components["schemas"]["ImportUploadTask"] | components["schemas"]["ImportUrlTask"] | components["schemas"]["ImportBase64Task"] | components["schemas"]["ImportWebpageTask"] | components["schemas"]["ImportObjstoreATask"] | components["schemas"]["ImportObjstoreBTask"] | components["schemas"]["ImportBlobstoreTask"] | components["schemas"]["ImportSftpTask"] | components["schemas"]["ConvertTask"] | components["schemas"]["CompressTask"] | components["schemas"]["MergeTask"] | components["schemas"]["CropTask"] | components["schemas"]["TrimTask"] | components["schemas"]["PdfSplitTask"] | components["schemas"]["PdfExtractTask"] | components["schemas"]["PdfRotateTask"] | components["schemas"]["PdfReorderTask"] | components["schemas"]["PdfWatermarkTask"] | components["schemas"]["PdfStampTask"] | components["schemas"]["PdfEncryptTask"] | components["schemas"]["PdfDecryptTask"] | components["schemas"]["PdfOptimizeTask"] | components["schemas"]["PdfOcrTask"] | components["schemas"]["PdfATask"] | components["schemas"]["PdfUaTask"] | components["schemas"]["PdfFormsTask"] | components["schemas"]["PdfFillTask"] | components["schemas"]["PdfSignTask"] | components["schemas"]["PdfVerifyTask"] | components["schemas"]["PdfRedactTask"] | components["schemas"]["PdfCompareTask"] | components["schemas"]["InvoiceEmbedTask"] | components["schemas"]["InvoiceExtractTask"] | components["schemas"]["ExportUrlTask"] | components["schemas"]["ExportObjstoreATask"] | components["schemas"]["ExportObjstoreBTask"] | components["schemas"]["ExportBlobstoreTask"] | components["schemas"]["ExportSftpTask"];
        TaskPage: {
            docs: {
                /** Format: date-time */
                createdAt: string;
                dependsOn: string[];
                endedAt: string | null;
                /**
                 * Format: date-time
                 * @description When the record is deleted. Files are deleted earlier.
                 */
                expiresAt: string;
                /** @example 6af9126cc0830000f25c62d1 */
                id: string;
                /** @example 6af9126cc0830000f25c62d1 */
                job?: string;
                /** @description The job without its tasks, with include=job. */
                jobDetails?: {
                    /** @example 6af9126cc0830000f25c62d1 */
                    id: string;
                } & {
                    [key: string]: unknown;
                };
                name: string;
                operation: string;
                /** @description The parameters of the task; secrets are masked or emptied. */
                payload: {
                    [key: string]: unknown;
                };
                /** @description Percent, if the engine reports it. */
                progress?: number;
                result: {
                    /** @description Engine time of the task, excluding waiting and transfers. Absent if no engine ran. */
                    conversionSeconds?: number;
                    /** @enum {string} */
                    errorCode?: "upload_timeout" | "engine_timeout" | "out_of_conversion_minutes" | "out_of_conversion_minutes_per_task" | "user_deleted_task" | "insufficient_permission" | "invalid_credentials" | "processing_failed";
                    /** @description Engine time that was expected of a large video or document, and the number of its parts if it was split. */
                    estimate?: {
                        conversionSeconds: number;
                        parts?: number;
                    };
                    /** @description Every output file, in order. */
                    files?: {
                        filename: string;
                        /** @description Extension without a dot, detected from the content. */
                        format: string;
                        media_type: string;
                        size: number;
                        /** Format: uri */
                        url: string;
                    }[];
                    form?: {
                        /**
                         * Format: uri
                         * @description Address for uploading the file in parts, such as the companionEndpoint of Uppy.
                         */
                        endpoint?: string;
                        parameters: {
                            [key: string]: string;
                        };
                        /** Format: uri */
                        url: string;
                    };
                    msg?: string;
                    /** @description How far a long video or document is that is converted in parts. Absent once the task has ended. */
                    parts?: {
                        done: number;
                        running: number;
                        /** @description Estimated time until the end of the task. */
                        seconds_left?: number;
                        total: number;
                    };
                    /** @description Why a large video or document was not converted in parts. */
                    split_reason?: string;
                    /**
                     * Format: uri
                     * @description Link to the first output file.
                     */
                    url?: string;
                    /** @description Parts of the input that could not be converted. Absent if there are none. */
                    warnings?: string[];
                } & {
                    [key: string]: unknown;
                };
                startedAt: string | null;
                /** @enum {string} */
                status: "created" | "processing" | "completed" | "canceled" | "failed" | "deleted";
                /**
                 * @description Present if the list exceeds the 6 MB limit of a response and payload, dependsOn and most of result are omitted. GET /v1/process/tasks/{taskId} returns them.
                 * @constant
                 */
                truncated?: true;
                /** Format: date-time */
                updatedAt: string;
                /** @example 6af9126cc0830000f25c62d1 */
                user: string;
                /** @description Increases with every change of this task or job. The state with the higher version is newer. */
                version: number;
                /** @description Unknown fields of the request that were ignored. Only in the response to the creation request; absent if there are none. */
                warnings?: string[];
            }[];
            hasNextPage: boolean;
            hasPrevPage: boolean;
            limit: number;
            nextPage: number | null;
            page: number;
            /** @description Position of the first document of this page, from 1. */
            pagingCounter: number;
            prevPage: number | null;
            totalDocs: number;
            totalPages: number;
        };
        Token: {
            /** Format: date-time */
            expiresAt: string;
            /** @example 6af9126cc0830000f25c62d1 */
            job?: string;
            token: string;
        };
        /**
         * @description Lower-case extension without a dot. Upper case and a leading dot are accepted, too.
         * @enum {string}
         */
        TrimInputFormat: "264" | "265" | "3g2" | "3gp" | "3gpp" | "3gpp2" | "8svx" | "aac" | "ac3" | "adts" | "adx" | "aif" | "aifc" | "aiff" | "amr" | "ape" | "asf" | "ast" | "au" | "avc" | "avi" | "avr" | "bwf" | "caf" | "dff" | "dif" | "divx" | "dsf" | "dts" | "dv" | "dvr-ms" | "eac3" | "ec3" | "f4a" | "f4v" | "flac" | "flv" | "g722" | "gsm" | "h264" | "h265" | "hevc" | "iff" | "ircam" | "ismv" | "ivf" | "m1v" | "m2p" | "m2t" | "m2ts" | "m2v" | "m4a" | "m4b" | "m4r" | "m4v" | "mjpeg" | "mjpg" | "mk3d" | "mka" | "mkv" | "mlp" | "mmf" | "mogg" | "mov" | "mp2" | "mp3" | "mp4" | "mp4v" | "mpa" | "mpc" | "mpe" | "mpeg" | "mpg" | "mpv" | "mts" | "mxf" | "nist" | "nut" | "oga" | "ogg" | "ogv" | "ogx" | "opus" | "pvf" | "qt" | "ra" | "rf64" | "rm" | "rmvb" | "sf" | "snd" | "sox" | "sph" | "spx" | "swf" | "thd" | "tod" | "trp" | "truehd" | "ts" | "tta" | "vob" | "voc" | "vro" | "w64" | "wav" | "wave" | "weba" | "webm" | "wm" | "wma" | "wmv" | "wtv" | "wv" | "xvid" | "y4m";
        /** @description Options of trim. GET /v1/query/options/trim lists the options of a pair of formats and their dependencies. */
        TrimOptions: {
            /** @enum {unknown} */
            strip?: true | false | "true" | "false";
            trim_end?: string;
            /** @enum {unknown} */
            trim_mode?: "accurate" | "fast";
            trim_start?: string;
        };
        /**
         * @description Lower-case extension without a dot. Upper case and a leading dot are accepted, too.
         * @enum {string}
         */
        TrimOutputFormat: "264" | "265" | "3g2" | "3gp" | "3gpp" | "3gpp2" | "aac" | "ac3" | "adts" | "adx" | "aif" | "aifc" | "aiff" | "amr" | "asf" | "ast" | "au" | "avc" | "avi" | "bwf" | "caf" | "dif" | "divx" | "dts" | "dv" | "dvr-ms" | "eac3" | "ec3" | "f4a" | "f4v" | "flac" | "flv" | "g722" | "gsm" | "h264" | "h265" | "hevc" | "ircam" | "ismv" | "ivf" | "m1v" | "m2p" | "m2t" | "m2ts" | "m2v" | "m4a" | "m4b" | "m4r" | "m4v" | "mjpeg" | "mjpg" | "mk3d" | "mka" | "mkv" | "mmf" | "mogg" | "mov" | "mp2" | "mp3" | "mp4" | "mp4v" | "mpa" | "mpe" | "mpeg" | "mpg" | "mpv" | "mts" | "mxf" | "nut" | "oga" | "ogg" | "ogv" | "ogx" | "opus" | "qt" | "ra" | "rf64" | "rm" | "rmvb" | "sf" | "snd" | "sox" | "spx" | "swf" | "tod" | "trp" | "ts" | "tta" | "vob" | "voc" | "vro" | "w64" | "wav" | "wave" | "weba" | "webm" | "wm" | "wma" | "wmv" | "wtv" | "wv" | "xvid" | "y4m";
        TrimTask: {
            /** @description Overrides the name of the file. */
            filename?: string;
            /** @description Task to read files from: the name of a task in the same job, or the id of an earlier task. Can be an array. */
            input: string | string[];
            /** @description File extension without a dot. */
            input_format?: components["schemas"]["TrimInputFormat"];
            /** @constant */
            operation: "trim";
            /**
             * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
             * @default {}
             */
            options?: components["schemas"]["TrimOptions"];
            /** @description File extension without a dot. */
            output_format?: components["schemas"]["TrimOutputFormat"];
        };
        UploadParameters: {
            fields: {
                [key: string]: string;
            };
            /** @constant */
            method: "POST";
            /** Format: uri */
            url: string;
        };
        UploadPartList: {
            ETag: string;
            PartNumber: number;
            Size: number;
        }[];
        Usage: {
            /** @description Engine time, excluding waiting, transfers and runs that failed because of an internal error. */
            conversionSeconds: number;
            /** @description Days with usage. */
            days: {
                /** @description Engine time, excluding waiting, transfers and runs that failed because of an internal error. */
                conversionSeconds: number;
                /** Format: date */
                date: string;
                formats: {
                    /** @description Engine time, excluding waiting, transfers and runs that failed because of an internal error. */
                    conversionSeconds: number;
                    input_format: string;
                    output_format: string;
                    tasks: number;
                }[];
                /** @description Seconds by the id of the API key. */
                keys: {
                    [key: string]: number;
                };
                /** @description Seconds by operation. */
                operations: {
                    [key: string]: number;
                };
                tasks: number;
            }[];
            /** Format: date */
            from: string;
            month: {
                /** @description Conversion minutes that the account can use; null if not limited. */
                allowanceMinutes: number | null;
                /** @description The current month, such as 2026-11. */
                month: string;
                /** @description Minutes that are neither used nor reserved by running tasks; null if not limited. */
                remainingMinutes: number | null;
            };
            tasks: number;
            /** Format: date */
            to: string;
        };
        Webhook: {
            /** Format: date-time */
            createdAt: string;
            /** @description When the webhook was disabled because the receiver responded with 410. */
            disabledAt: string | null;
            events: ("job.created" | "job.completed" | "job.failed")[];
            /** @example 6af9126cc0830000f25c62d1 */
            id: string;
            /** @description Secret for verifying signatures. Shown only once. */
            secret: string;
            url: string;
        };
        WebhookList: {
            docs: {
                /** Format: date-time */
                createdAt: string;
                /** @description When the webhook was disabled because the receiver responded with 410. */
                disabledAt: string | null;
                events: ("job.created" | "job.completed" | "job.failed")[];
                /** @example 6af9126cc0830000f25c62d1 */
                id: string;
                url: string;
            }[];
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: {
        /** @description Requests per minute, by the limit with the fewest remaining requests: of the account, of the API key, or of creating jobs and tasks. */
        "RateLimit-Limit": number;
        /** @description Remaining requests in this minute. */
        "RateLimit-Remaining": number;
        /** @description Seconds until the limit resets. */
        "RateLimit-Reset": number;
        /** @description Seconds to wait before the next request. */
        "Retry-After": number;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    "sign-in-callback": {
        parameters: {
            query?: {
                /** @description Authorization code, exchanged for an ID token. */
                code?: string;
                /** @description Error code of the issuer. */
                error?: string;
                /** @description Error description of the issuer. */
                error_description?: string;
                /** @description The issuer. */
                iss?: string;
                /** @description Identifies the sign-in. */
                state?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Redirects to the address in Location. */
            302: {
                headers: {
                    Location?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "sign-in": {
        parameters: {
            query?: {
                /** @description Page to return to. Defaults to /. */
                return_to?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Redirects to the address in Location. */
            302: {
                headers: {
                    Location?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "sign-out": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description End the session of the cookie */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SignedOut"];
                };
            };
        };
    };
    health: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Show the version, the state of the engines and the WebSocket URLs */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Health"];
                };
            };
        };
    };
    picture: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                keyId: string;
                /** @description Signature, processing options and source, such as `<signature>/w:300/plain/<url>`. */
                proxy: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The image. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "image/*": unknown;
                };
            };
            /** @description Redirects to the address in Location. */
            303: {
                headers: {
                    Location?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    mcp: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": ({
                    /** @description Id of a request, repeated in its response. */
                    id?: string | number;
                    /** @constant */
                    jsonrpc: "2.0";
                    /** @description Such as initialize, tools/list, tools/call. */
                    method?: string;
                    params?: {
                        [key: string]: unknown;
                    };
                } & {
                    [key: string]: unknown;
                }) | ({
                    /** @description Id of a request, repeated in its response. */
                    id?: string | number;
                    /** @constant */
                    jsonrpc: "2.0";
                    /** @description Such as initialize, tools/list, tools/call. */
                    method?: string;
                    params?: {
                        [key: string]: unknown;
                    };
                } & {
                    [key: string]: unknown;
                })[];
            };
        };
        responses: {
            /** @description Serve tools to agents over the Model Context Protocol (streamable HTTP with JSON responses, without sessions) */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["McpResponse"];
                };
            };
            /** @description The body contains only notifications or responses. */
            202: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "audit-list": {
        parameters: {
            query?: {
                /** @description Id of an entry. Lists older entries only. Pass `next` of a response to get the next page. */
                before?: string;
                /** @description Maximum number of entries. Defaults to 50. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List changes of keys, webhooks, members and roles in the last 90 days, newest first */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuditPage"];
                };
            };
        };
    };
    "image-key-list": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List the keys for image URLs */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ImageKeyList"];
                };
            };
        };
    };
    "image-key-create": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * @description How long browsers and CloudFront cache images, in seconds.
                     * @default 31536000
                     */
                    max_age?: number;
                    /** @description Purpose of the key. */
                    name: string;
                    /**
                     * @description Processing options by the name of the preset, as in a URL: `rs:fill:300:200/q:80`.
                     * @default {}
                     */
                    presets?: {
                        [key: string]: string;
                    };
                    /**
                     * @description Whether URLs may only name presets.
                     * @default false
                     */
                    presets_only?: boolean;
                    /**
                     * @description Bytes of a signature. Shorter signatures make shorter URLs.
                     * @default 32
                     */
                    signature_size?: number;
                    /** @description Hosts and buckets that images may come from. */
                    sources: ({
                        /** @description A host, or with `*.` all hosts of a domain. Both http and https are allowed. */
                        host: string;
                        /** @description Start of the paths that are allowed. */
                        prefix?: string & (unknown & unknown);
                    } | {
                        /** @description Id of an access key that can read the objects. */
                        access_key_id: string;
                        /** @description A bucket of S3 or a compatible store, for URLs such as s3://bucket/key. */
                        bucket: string;
                        /**
                         * @description URL of a compatible store. Defaults to that of S3.
                         * @example https://example.com/file.png
                         */
                        endpoint?: string & (unknown & unknown);
                        /** @description Start of the keys of objects that are allowed. */
                        prefix?: string;
                        /** @description Region of the bucket. */
                        region: string;
                        /** @description The access key itself. It is never shown again. */
                        secret_access_key: string;
                    })[];
                    /** @description URL of the picture that the option `watermark` draws. It must be within the sources. */
                    watermark?: string;
                };
            };
        };
        responses: {
            /** @description Create a key for image URLs (shown only once) */
            201: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NewImageKey"];
                };
            };
        };
    };
    "image-key-delete": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                imageKeyId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "key-list": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List API keys */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["KeyList"];
                };
            };
        };
    };
    "key-create": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * Format: date-time
                     * @description When the key expires.
                     */
                    expires_at?: string;
                    /** @description Lifetime in seconds. Without expires_in or expires_at, the key does not expire. */
                    expires_in?: number;
                    /** @description Limits of this key, in addition to those of its account. */
                    limits?: {
                        /** @description Formats that its tasks can read and write. */
                        formats?: string[];
                        /** @description Maximum size of an imported file. */
                        maxFileBytes?: number;
                        /** @description Maximum conversion minutes per month. */
                        minutesPerMonth?: number;
                        /** @description Maximum conversion minutes per task. */
                        minutesPerTask?: number;
                        /** @description Operations that the key can create tasks for. */
                        operations?: ("import/upload" | "import/url" | "import/base64" | "import/webpage" | "import/objstore_a" | "import/objstore_b" | "import/blobstore" | "import/sftp" | "convert" | "compress" | "merge" | "crop" | "trim" | "pdf/split" | "pdf/extract" | "pdf/rotate" | "pdf/reorder" | "pdf/watermark" | "pdf/stamp" | "pdf/encrypt" | "pdf/decrypt" | "pdf/optimize" | "pdf/ocr" | "pdf/a" | "pdf/ua" | "pdf/forms" | "pdf/fill" | "pdf/sign" | "pdf/verify" | "pdf/redact" | "pdf/compare" | "invoice/embed" | "invoice/extract" | "export/url" | "export/objstore_a" | "export/objstore_b" | "export/blobstore" | "export/sftp")[];
                        /** @description Origins of the pages that can use the key. Requests without an Origin header are refused, too. */
                        origins?: string[];
                        /** @description Maximum requests per minute. */
                        requestsPerMinute?: number;
                    };
                    /** @description Purpose of the key. */
                    name: string;
                    /** @description Permissions of the key: read tasks, jobs and webhooks; create and end tasks and jobs; manage the account. */
                    scopes?: ("read" | "process" | "account")[];
                };
            };
        };
        responses: {
            /** @description Create an API key (shown only once) */
            201: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NewKey"];
                };
            };
        };
    };
    "key-delete": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                keyId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "account-me": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Show the account and the caller */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Me"];
                };
            };
        };
    };
    "member-list": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List members and pending invitations (an API key requires the scope account) */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemberList"];
                };
            };
        };
    };
    "member-invite": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * Format: email
                     * @description Address of the person, who joins by signing in with it within 14 days.
                     */
                    email: string;
                    /**
                     * @description Role of the member. Owners can do everything, viewers can only read.
                     * @default developer
                     * @enum {string}
                     */
                    role?: "owner" | "developer" | "viewer";
                };
            };
        };
        responses: {
            /** @description Invite a person to a team by e-mail address */
            201: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Member"];
                };
            };
        };
    };
    "member-change": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                memberId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * @description The new role.
                     * @enum {string}
                     */
                    role: "owner" | "developer" | "viewer";
                };
            };
        };
        responses: {
            /** @description Change the role of a member */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Member"];
                };
            };
        };
    };
    "member-remove": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                memberId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "team-create": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Name of the team. */
                    name: string;
                };
            };
        };
        responses: {
            /** @description Create a team (signed-in people only) */
            201: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Account"];
                };
            };
        };
    };
    "account-token": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * @description Lifetime of the token in seconds.
                     * @default 3600
                     */
                    expires_in?: number;
                    /**
                     * @description Limits the token to this job and its tasks.
                     * @example 6af9126cc0830000f25c62d1
                     */
                    job?: string;
                };
            };
        };
        responses: {
            /** @description Create a short-lived token for WebSockets, for the account or for one job */
            201: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Token"];
                };
            };
        };
    };
    "account-usage": {
        parameters: {
            query?: {
                /** @description First day. Defaults to the first of this month. */
                from?: string;
                /** @description Last day. Defaults to today. */
                to?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Show the conversion time used, by day, operation, formats and API key */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Usage"];
                };
            };
        };
    };
    "webhook-list": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List webhooks */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookList"];
                };
            };
        };
    };
    "webhook-create": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * @description Events that trigger a call. Defaults to all.
                     * @default [
                     *       "job.created",
                     *       "job.completed",
                     *       "job.failed"
                     *     ]
                     */
                    events?: ("job.created" | "job.completed" | "job.failed")[];
                    /**
                     * @description Receives a POST request with the event and the job.
                     * @example https://example.com/file.png
                     */
                    url: string & (unknown & unknown);
                };
            };
        };
        responses: {
            /** @description Register a webhook */
            201: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Webhook"];
                };
            };
        };
    };
    "webhook-delete": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                webhookId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "webhook-deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                webhookId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List the deliveries of a webhook with their attempts */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeliveryList"];
                };
            };
        };
    };
    "webhook-replay": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                deliveryId: string;
                webhookId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Send a delivery again */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Delivery"];
                };
            };
        };
    };
    file: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
                taskId: string;
                token: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Redirects to the address in Location. */
            302: {
                headers: {
                    Location?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "instant-compress": {
        parameters: {
            query?: never;
            header?: {
                /** @description Such as `wait=25`: waits up to 25 seconds for the end, and returns the result (RFC 7240). */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Overrides the name of the file. */
                    filename?: string;
                    /** @description A page as HTML, instead of a file in the request. */
                    html?: string;
                    /** @description Id of the task to read files from. Can be an array. */
                    input?: string | string[];
                    /** @description File extension without a dot. */
                    input_format?: components["schemas"]["CompressInputFormat"];
                    /**
                     * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
                     * @default {}
                     */
                    options?: components["schemas"]["CompressOptions"];
                    /** @description File extension without a dot. */
                    output_format?: components["schemas"]["CompressOutputFormat"];
                    /**
                     * @description URL of a file, instead of a file in the request.
                     * @example https://example.com/file.png
                     */
                    url?: string & (unknown & unknown);
                } | unknown | unknown | unknown;
                "multipart/form-data": {
                    /**
                     * Format: binary
                     * @description A file. Repeat the field for several.
                     */
                    file: string;
                    /** @description Overrides the name of the file. */
                    filename?: string;
                    /** @description File extension without a dot. */
                    input_format?: components["schemas"]["CompressInputFormat"];
                    /**
                     * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
                     * @default {}
                     */
                    options?: components["schemas"]["CompressOptions"];
                    /** @description File extension without a dot. */
                    output_format?: components["schemas"]["CompressOutputFormat"];
                };
            };
        };
        responses: {
            /** @description The file; several as a ZIP. */
            200: {
                headers: {
                    /** @description Engine time. */
                    "Lathe-Conversion-Seconds"?: number;
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "*/*": unknown;
                };
            };
            /** @description The work takes longer, or no engine is free, and it has become a job. */
            202: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Job"];
                };
            };
            /** @description Redirects to the address in Location. */
            303: {
                headers: {
                    Location?: string;
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "instant-convert": {
        parameters: {
            query?: never;
            header?: {
                /** @description Such as `wait=25`: waits up to 25 seconds for the end, and returns the result (RFC 7240). */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Overrides the name of the file. */
                    filename?: string;
                    /** @description Fonts to draw the text with, in addition to those that are installed. The name or id of a task, or an array of them. */
                    fonts?: string | string[];
                    /** @description A page as HTML, instead of a file in the request. */
                    html?: string;
                    /** @description Id of the task to read files from. Can be an array. */
                    input?: string | string[];
                    /** @description File extension without a dot. */
                    input_format?: components["schemas"]["ConvertInputFormat"];
                    /**
                     * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
                     * @default {}
                     */
                    options?: components["schemas"]["ConvertOptions"];
                    /** @description File extension without a dot. */
                    output_format: components["schemas"]["ConvertOutputFormat"];
                    /**
                     * @description URL of a file, instead of a file in the request.
                     * @example https://example.com/file.png
                     */
                    url?: string & (unknown & unknown);
                } | unknown | unknown | unknown;
                "multipart/form-data": {
                    /**
                     * Format: binary
                     * @description A file. Repeat the field for several.
                     */
                    file: string;
                    /** @description Overrides the name of the file. */
                    filename?: string;
                    /** @description Fonts to draw the text with, in addition to those that are installed. The name or id of a task, or an array of them. */
                    fonts?: string | string[];
                    /** @description File extension without a dot. */
                    input_format?: components["schemas"]["ConvertInputFormat"];
                    /**
                     * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
                     * @default {}
                     */
                    options?: components["schemas"]["ConvertOptions"];
                    /** @description File extension without a dot. */
                    output_format: components["schemas"]["ConvertOutputFormat"];
                };
            };
        };
        responses: {
            /** @description The file; several as a ZIP. */
            200: {
                headers: {
                    /** @description Engine time. */
                    "Lathe-Conversion-Seconds"?: number;
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "*/*": unknown;
                };
            };
            /** @description The work takes longer, or no engine is free, and it has become a job. */
            202: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Job"];
                };
            };
            /** @description Redirects to the address in Location. */
            303: {
                headers: {
                    Location?: string;
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "instant-crop": {
        parameters: {
            query?: never;
            header?: {
                /** @description Such as `wait=25`: waits up to 25 seconds for the end, and returns the result (RFC 7240). */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Overrides the name of the file. */
                    filename?: string;
                    /** @description A page as HTML, instead of a file in the request. */
                    html?: string;
                    /** @description Id of the task to read files from. Can be an array. */
                    input?: string | string[];
                    /** @description File extension without a dot. */
                    input_format?: components["schemas"]["CropInputFormat"];
                    /**
                     * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
                     * @default {}
                     */
                    options?: components["schemas"]["CropOptions"];
                    /** @description File extension without a dot. */
                    output_format?: components["schemas"]["CropOutputFormat"];
                    /**
                     * @description URL of a file, instead of a file in the request.
                     * @example https://example.com/file.png
                     */
                    url?: string & (unknown & unknown);
                } | unknown | unknown | unknown;
                "multipart/form-data": {
                    /**
                     * Format: binary
                     * @description A file. Repeat the field for several.
                     */
                    file: string;
                    /** @description Overrides the name of the file. */
                    filename?: string;
                    /** @description File extension without a dot. */
                    input_format?: components["schemas"]["CropInputFormat"];
                    /**
                     * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
                     * @default {}
                     */
                    options?: components["schemas"]["CropOptions"];
                    /** @description File extension without a dot. */
                    output_format?: components["schemas"]["CropOutputFormat"];
                };
            };
        };
        responses: {
            /** @description The file; several as a ZIP. */
            200: {
                headers: {
                    /** @description Engine time. */
                    "Lathe-Conversion-Seconds"?: number;
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "*/*": unknown;
                };
            };
            /** @description The work takes longer, or no engine is free, and it has become a job. */
            202: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Job"];
                };
            };
            /** @description Redirects to the address in Location. */
            303: {
                headers: {
                    Location?: string;
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "instant-invoice-embed": {
        parameters: {
            query?: never;
            header?: {
                /** @description Such as `wait=25`: waits up to 25 seconds for the end, and returns the result (RFC 7240). */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Overrides the name of the file. */
                    filename?: string;
                    /** @description A page as HTML, instead of a file in the request. */
                    html?: string;
                    /** @description Id of the task to read files from. Can be an array. */
                    input?: string | string[];
                    /** @description File extension without a dot. */
                    input_format?: components["schemas"]["InvoiceEmbedInputFormat"];
                    /** @description The invoice as XML. The name or id of a task, or an array of them. */
                    invoice?: string | string[];
                    /**
                     * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
                     * @default {}
                     */
                    options?: components["schemas"]["InvoiceEmbedOptions"];
                    /** @description File extension without a dot. */
                    output_format?: components["schemas"]["InvoiceEmbedOutputFormat"];
                    /**
                     * @description URL of a file, instead of a file in the request.
                     * @example https://example.com/file.png
                     */
                    url?: string & (unknown & unknown);
                } | unknown | unknown | unknown;
                "multipart/form-data": {
                    /**
                     * Format: binary
                     * @description A file. Repeat the field for several.
                     */
                    file: string;
                    /** @description Overrides the name of the file. */
                    filename?: string;
                    /** @description File extension without a dot. */
                    input_format?: components["schemas"]["InvoiceEmbedInputFormat"];
                    /** @description The invoice as XML. The name or id of a task, or an array of them. */
                    invoice?: string | string[];
                    /**
                     * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
                     * @default {}
                     */
                    options?: components["schemas"]["InvoiceEmbedOptions"];
                    /** @description File extension without a dot. */
                    output_format?: components["schemas"]["InvoiceEmbedOutputFormat"];
                };
            };
        };
        responses: {
            /** @description The file; several as a ZIP. */
            200: {
                headers: {
                    /** @description Engine time. */
                    "Lathe-Conversion-Seconds"?: number;
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "*/*": unknown;
                };
            };
            /** @description The work takes longer, or no engine is free, and it has become a job. */
            202: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Job"];
                };
            };
            /** @description Redirects to the address in Location. */
            303: {
                headers: {
                    Location?: string;
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "instant-invoice-extract": {
        parameters: {
            query?: never;
            header?: {
                /** @description Such as `wait=25`: waits up to 25 seconds for the end, and returns the result (RFC 7240). */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Overrides the name of the file. */
                    filename?: string;
                    /** @description A page as HTML, instead of a file in the request. */
                    html?: string;
                    /** @description Id of the task to read files from. Can be an array. */
                    input?: string | string[];
                    /** @description File extension without a dot. */
                    input_format?: components["schemas"]["InvoiceExtractInputFormat"];
                    /**
                     * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
                     * @default {}
                     */
                    options?: components["schemas"]["InvoiceExtractOptions"];
                    /** @description File extension without a dot. */
                    output_format?: components["schemas"]["InvoiceExtractOutputFormat"];
                    /**
                     * @description URL of a file, instead of a file in the request.
                     * @example https://example.com/file.png
                     */
                    url?: string & (unknown & unknown);
                } | unknown | unknown | unknown;
                "multipart/form-data": {
                    /**
                     * Format: binary
                     * @description A file. Repeat the field for several.
                     */
                    file: string;
                    /** @description Overrides the name of the file. */
                    filename?: string;
                    /** @description File extension without a dot. */
                    input_format?: components["schemas"]["InvoiceExtractInputFormat"];
                    /**
                     * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
                     * @default {}
                     */
                    options?: components["schemas"]["InvoiceExtractOptions"];
                    /** @description File extension without a dot. */
                    output_format?: components["schemas"]["InvoiceExtractOutputFormat"];
                };
            };
        };
        responses: {
            /** @description The file; several as a ZIP. */
            200: {
                headers: {
                    /** @description Engine time. */
                    "Lathe-Conversion-Seconds"?: number;
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "*/*": unknown;
                };
            };
            /** @description The work takes longer, or no engine is free, and it has become a job. */
            202: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Job"];
                };
            };
            /** @description Redirects to the address in Location. */
            303: {
                headers: {
                    Location?: string;
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "instant-merge": {
        parameters: {
            query?: never;
            header?: {
                /** @description Such as `wait=25`: waits up to 25 seconds for the end, and returns the result (RFC 7240). */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Overrides the name of the file. */
                    filename?: string;
                    /** @description A page as HTML, instead of a file in the request. */
                    html?: string;
                    /** @description Id of the task to read files from. Can be an array. */
                    input?: string | string[];
                    /**
                     * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
                     * @default {}
                     */
                    options?: components["schemas"]["MergeOptions"];
                    /** @enum {string} */
                    output_format: "pdf" | "gif";
                    /**
                     * @description URL of a file, instead of a file in the request.
                     * @example https://example.com/file.png
                     */
                    url?: string & (unknown & unknown);
                } | unknown | unknown | unknown;
                "multipart/form-data": {
                    /**
                     * Format: binary
                     * @description A file. Repeat the field for several.
                     */
                    file: string;
                    /** @description Overrides the name of the file. */
                    filename?: string;
                    /**
                     * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
                     * @default {}
                     */
                    options?: components["schemas"]["MergeOptions"];
                    /** @enum {string} */
                    output_format: "pdf" | "gif";
                };
            };
        };
        responses: {
            /** @description The file; several as a ZIP. */
            200: {
                headers: {
                    /** @description Engine time. */
                    "Lathe-Conversion-Seconds"?: number;
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "*/*": unknown;
                };
            };
            /** @description The work takes longer, or no engine is free, and it has become a job. */
            202: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Job"];
                };
            };
            /** @description Redirects to the address in Location. */
            303: {
                headers: {
                    Location?: string;
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "instant-pdf-a": {
        parameters: {
            query?: never;
            header?: {
                /** @description Such as `wait=25`: waits up to 25 seconds for the end, and returns the result (RFC 7240). */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Files to embed. The name or id of a task, or an array of them. */
                    attachments?: string | string[];
                    /** @description Overrides the name of the file. */
                    filename?: string;
                    /** @description A page as HTML, instead of a file in the request. */
                    html?: string;
                    /** @description Id of the task to read files from. Can be an array. */
                    input?: string | string[];
                    /** @description File extension without a dot. */
                    input_format?: components["schemas"]["PdfAInputFormat"];
                    /**
                     * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
                     * @default {}
                     */
                    options?: components["schemas"]["PdfAOptions"];
                    /** @description File extension without a dot. */
                    output_format?: components["schemas"]["PdfAOutputFormat"];
                    /**
                     * @description URL of a file, instead of a file in the request.
                     * @example https://example.com/file.png
                     */
                    url?: string & (unknown & unknown);
                } | unknown | unknown | unknown;
                "multipart/form-data": {
                    /** @description Files to embed. The name or id of a task, or an array of them. */
                    attachments?: string | string[];
                    /**
                     * Format: binary
                     * @description A file. Repeat the field for several.
                     */
                    file: string;
                    /** @description Overrides the name of the file. */
                    filename?: string;
                    /** @description File extension without a dot. */
                    input_format?: components["schemas"]["PdfAInputFormat"];
                    /**
                     * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
                     * @default {}
                     */
                    options?: components["schemas"]["PdfAOptions"];
                    /** @description File extension without a dot. */
                    output_format?: components["schemas"]["PdfAOutputFormat"];
                };
            };
        };
        responses: {
            /** @description The file; several as a ZIP. */
            200: {
                headers: {
                    /** @description Engine time. */
                    "Lathe-Conversion-Seconds"?: number;
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "*/*": unknown;
                };
            };
            /** @description The work takes longer, or no engine is free, and it has become a job. */
            202: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Job"];
                };
            };
            /** @description Redirects to the address in Location. */
            303: {
                headers: {
                    Location?: string;
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "instant-pdf-compare": {
        parameters: {
            query?: never;
            header?: {
                /** @description Such as `wait=25`: waits up to 25 seconds for the end, and returns the result (RFC 7240). */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Overrides the name of the file. */
                    filename?: string;
                    /** @description A page as HTML, instead of a file in the request. */
                    html?: string;
                    /** @description Id of the task to read files from. Can be an array. */
                    input?: string | string[];
                    /** @description File extension without a dot. */
                    input_format?: components["schemas"]["PdfCompareInputFormat"];
                    /**
                     * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
                     * @default {}
                     */
                    options?: components["schemas"]["PdfCompareOptions"];
                    /** @description The document to compare with. The name or id of a task, or an array of them. */
                    original?: string | string[];
                    /** @description File extension without a dot. */
                    output_format?: components["schemas"]["PdfCompareOutputFormat"];
                    /**
                     * @description URL of a file, instead of a file in the request.
                     * @example https://example.com/file.png
                     */
                    url?: string & (unknown & unknown);
                } | unknown | unknown | unknown;
                "multipart/form-data": {
                    /**
                     * Format: binary
                     * @description A file. Repeat the field for several.
                     */
                    file: string;
                    /** @description Overrides the name of the file. */
                    filename?: string;
                    /** @description File extension without a dot. */
                    input_format?: components["schemas"]["PdfCompareInputFormat"];
                    /**
                     * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
                     * @default {}
                     */
                    options?: components["schemas"]["PdfCompareOptions"];
                    /** @description The document to compare with. The name or id of a task, or an array of them. */
                    original?: string | string[];
                    /** @description File extension without a dot. */
                    output_format?: components["schemas"]["PdfCompareOutputFormat"];
                };
            };
        };
        responses: {
            /** @description The file; several as a ZIP. */
            200: {
                headers: {
                    /** @description Engine time. */
                    "Lathe-Conversion-Seconds"?: number;
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "*/*": unknown;
                };
            };
            /** @description The work takes longer, or no engine is free, and it has become a job. */
            202: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Job"];
                };
            };
            /** @description Redirects to the address in Location. */
            303: {
                headers: {
                    Location?: string;
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "instant-pdf-decrypt": {
        parameters: {
            query?: never;
            header?: {
                /** @description Such as `wait=25`: waits up to 25 seconds for the end, and returns the result (RFC 7240). */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Overrides the name of the file. */
                    filename?: string;
                    /** @description A page as HTML, instead of a file in the request. */
                    html?: string;
                    /** @description Id of the task to read files from. Can be an array. */
                    input?: string | string[];
                    /** @description File extension without a dot. */
                    input_format?: components["schemas"]["PdfDecryptInputFormat"];
                    /**
                     * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
                     * @default {}
                     */
                    options?: components["schemas"]["PdfDecryptOptions"];
                    /** @description File extension without a dot. */
                    output_format?: components["schemas"]["PdfDecryptOutputFormat"];
                    /**
                     * @description URL of a file, instead of a file in the request.
                     * @example https://example.com/file.png
                     */
                    url?: string & (unknown & unknown);
                } | unknown | unknown | unknown;
                "multipart/form-data": {
                    /**
                     * Format: binary
                     * @description A file. Repeat the field for several.
                     */
                    file: string;
                    /** @description Overrides the name of the file. */
                    filename?: string;
                    /** @description File extension without a dot. */
                    input_format?: components["schemas"]["PdfDecryptInputFormat"];
                    /**
                     * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
                     * @default {}
                     */
                    options?: components["schemas"]["PdfDecryptOptions"];
                    /** @description File extension without a dot. */
                    output_format?: components["schemas"]["PdfDecryptOutputFormat"];
                };
            };
        };
        responses: {
            /** @description The file; several as a ZIP. */
            200: {
                headers: {
                    /** @description Engine time. */
                    "Lathe-Conversion-Seconds"?: number;
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "*/*": unknown;
                };
            };
            /** @description The work takes longer, or no engine is free, and it has become a job. */
            202: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Job"];
                };
            };
            /** @description Redirects to the address in Location. */
            303: {
                headers: {
                    Location?: string;
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "instant-pdf-encrypt": {
        parameters: {
            query?: never;
            header?: {
                /** @description Such as `wait=25`: waits up to 25 seconds for the end, and returns the result (RFC 7240). */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Overrides the name of the file. */
                    filename?: string;
                    /** @description A page as HTML, instead of a file in the request. */
                    html?: string;
                    /** @description Id of the task to read files from. Can be an array. */
                    input?: string | string[];
                    /** @description File extension without a dot. */
                    input_format?: components["schemas"]["PdfEncryptInputFormat"];
                    /**
                     * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
                     * @default {}
                     */
                    options?: components["schemas"]["PdfEncryptOptions"];
                    /** @description File extension without a dot. */
                    output_format?: components["schemas"]["PdfEncryptOutputFormat"];
                    /**
                     * @description URL of a file, instead of a file in the request.
                     * @example https://example.com/file.png
                     */
                    url?: string & (unknown & unknown);
                } | unknown | unknown | unknown;
                "multipart/form-data": {
                    /**
                     * Format: binary
                     * @description A file. Repeat the field for several.
                     */
                    file: string;
                    /** @description Overrides the name of the file. */
                    filename?: string;
                    /** @description File extension without a dot. */
                    input_format?: components["schemas"]["PdfEncryptInputFormat"];
                    /**
                     * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
                     * @default {}
                     */
                    options?: components["schemas"]["PdfEncryptOptions"];
                    /** @description File extension without a dot. */
                    output_format?: components["schemas"]["PdfEncryptOutputFormat"];
                };
            };
        };
        responses: {
            /** @description The file; several as a ZIP. */
            200: {
                headers: {
                    /** @description Engine time. */
                    "Lathe-Conversion-Seconds"?: number;
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "*/*": unknown;
                };
            };
            /** @description The work takes longer, or no engine is free, and it has become a job. */
            202: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Job"];
                };
            };
            /** @description Redirects to the address in Location. */
            303: {
                headers: {
                    Location?: string;
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "instant-pdf-extract": {
        parameters: {
            query?: never;
            header?: {
                /** @description Such as `wait=25`: waits up to 25 seconds for the end, and returns the result (RFC 7240). */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Overrides the name of the file. */
                    filename?: string;
                    /** @description A page as HTML, instead of a file in the request. */
                    html?: string;
                    /** @description Id of the task to read files from. Can be an array. */
                    input?: string | string[];
                    /** @description File extension without a dot. */
                    input_format?: components["schemas"]["PdfExtractInputFormat"];
                    /**
                     * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
                     * @default {}
                     */
                    options?: components["schemas"]["PdfExtractOptions"];
                    /** @description File extension without a dot. */
                    output_format?: components["schemas"]["PdfExtractOutputFormat"];
                    /**
                     * @description URL of a file, instead of a file in the request.
                     * @example https://example.com/file.png
                     */
                    url?: string & (unknown & unknown);
                } | unknown | unknown | unknown;
                "multipart/form-data": {
                    /**
                     * Format: binary
                     * @description A file. Repeat the field for several.
                     */
                    file: string;
                    /** @description Overrides the name of the file. */
                    filename?: string;
                    /** @description File extension without a dot. */
                    input_format?: components["schemas"]["PdfExtractInputFormat"];
                    /**
                     * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
                     * @default {}
                     */
                    options?: components["schemas"]["PdfExtractOptions"];
                    /** @description File extension without a dot. */
                    output_format?: components["schemas"]["PdfExtractOutputFormat"];
                };
            };
        };
        responses: {
            /** @description The file; several as a ZIP. */
            200: {
                headers: {
                    /** @description Engine time. */
                    "Lathe-Conversion-Seconds"?: number;
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "*/*": unknown;
                };
            };
            /** @description The work takes longer, or no engine is free, and it has become a job. */
            202: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Job"];
                };
            };
            /** @description Redirects to the address in Location. */
            303: {
                headers: {
                    Location?: string;
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "instant-pdf-fill": {
        parameters: {
            query?: never;
            header?: {
                /** @description Such as `wait=25`: waits up to 25 seconds for the end, and returns the result (RFC 7240). */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Values of the fields, as JSON or CSV. Several records give several files. The name or id of a task, or an array of them. */
                    data?: string | string[];
                    /** @description Overrides the name of the file. */
                    filename?: string;
                    /** @description A page as HTML, instead of a file in the request. */
                    html?: string;
                    /** @description Id of the task to read files from. Can be an array. */
                    input?: string | string[];
                    /** @description File extension without a dot. */
                    input_format?: components["schemas"]["PdfFillInputFormat"];
                    /**
                     * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
                     * @default {}
                     */
                    options?: components["schemas"]["PdfFillOptions"];
                    /** @description File extension without a dot. */
                    output_format?: components["schemas"]["PdfFillOutputFormat"];
                    /**
                     * @description URL of a file, instead of a file in the request.
                     * @example https://example.com/file.png
                     */
                    url?: string & (unknown & unknown);
                } | unknown | unknown | unknown;
                "multipart/form-data": {
                    /** @description Values of the fields, as JSON or CSV. Several records give several files. The name or id of a task, or an array of them. */
                    data?: string | string[];
                    /**
                     * Format: binary
                     * @description A file. Repeat the field for several.
                     */
                    file: string;
                    /** @description Overrides the name of the file. */
                    filename?: string;
                    /** @description File extension without a dot. */
                    input_format?: components["schemas"]["PdfFillInputFormat"];
                    /**
                     * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
                     * @default {}
                     */
                    options?: components["schemas"]["PdfFillOptions"];
                    /** @description File extension without a dot. */
                    output_format?: components["schemas"]["PdfFillOutputFormat"];
                };
            };
        };
        responses: {
            /** @description The file; several as a ZIP. */
            200: {
                headers: {
                    /** @description Engine time. */
                    "Lathe-Conversion-Seconds"?: number;
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "*/*": unknown;
                };
            };
            /** @description The work takes longer, or no engine is free, and it has become a job. */
            202: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Job"];
                };
            };
            /** @description Redirects to the address in Location. */
            303: {
                headers: {
                    Location?: string;
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "instant-pdf-forms": {
        parameters: {
            query?: never;
            header?: {
                /** @description Such as `wait=25`: waits up to 25 seconds for the end, and returns the result (RFC 7240). */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Overrides the name of the file. */
                    filename?: string;
                    /** @description A page as HTML, instead of a file in the request. */
                    html?: string;
                    /** @description Id of the task to read files from. Can be an array. */
                    input?: string | string[];
                    /** @description File extension without a dot. */
                    input_format?: components["schemas"]["PdfFormsInputFormat"];
                    /**
                     * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
                     * @default {}
                     */
                    options?: components["schemas"]["PdfFormsOptions"];
                    /** @description File extension without a dot. */
                    output_format?: components["schemas"]["PdfFormsOutputFormat"];
                    /**
                     * @description URL of a file, instead of a file in the request.
                     * @example https://example.com/file.png
                     */
                    url?: string & (unknown & unknown);
                } | unknown | unknown | unknown;
                "multipart/form-data": {
                    /**
                     * Format: binary
                     * @description A file. Repeat the field for several.
                     */
                    file: string;
                    /** @description Overrides the name of the file. */
                    filename?: string;
                    /** @description File extension without a dot. */
                    input_format?: components["schemas"]["PdfFormsInputFormat"];
                    /**
                     * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
                     * @default {}
                     */
                    options?: components["schemas"]["PdfFormsOptions"];
                    /** @description File extension without a dot. */
                    output_format?: components["schemas"]["PdfFormsOutputFormat"];
                };
            };
        };
        responses: {
            /** @description The file; several as a ZIP. */
            200: {
                headers: {
                    /** @description Engine time. */
                    "Lathe-Conversion-Seconds"?: number;
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "*/*": unknown;
                };
            };
            /** @description The work takes longer, or no engine is free, and it has become a job. */
            202: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Job"];
                };
            };
            /** @description Redirects to the address in Location. */
            303: {
                headers: {
                    Location?: string;
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "instant-pdf-ocr": {
        parameters: {
            query?: never;
            header?: {
                /** @description Such as `wait=25`: waits up to 25 seconds for the end, and returns the result (RFC 7240). */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Overrides the name of the file. */
                    filename?: string;
                    /** @description A page as HTML, instead of a file in the request. */
                    html?: string;
                    /** @description Id of the task to read files from. Can be an array. */
                    input?: string | string[];
                    /** @description File extension without a dot. */
                    input_format?: components["schemas"]["PdfOcrInputFormat"];
                    /**
                     * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
                     * @default {}
                     */
                    options?: components["schemas"]["PdfOcrOptions"];
                    /** @description File extension without a dot. */
                    output_format?: components["schemas"]["PdfOcrOutputFormat"];
                    /**
                     * @description URL of a file, instead of a file in the request.
                     * @example https://example.com/file.png
                     */
                    url?: string & (unknown & unknown);
                } | unknown | unknown | unknown;
                "multipart/form-data": {
                    /**
                     * Format: binary
                     * @description A file. Repeat the field for several.
                     */
                    file: string;
                    /** @description Overrides the name of the file. */
                    filename?: string;
                    /** @description File extension without a dot. */
                    input_format?: components["schemas"]["PdfOcrInputFormat"];
                    /**
                     * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
                     * @default {}
                     */
                    options?: components["schemas"]["PdfOcrOptions"];
                    /** @description File extension without a dot. */
                    output_format?: components["schemas"]["PdfOcrOutputFormat"];
                };
            };
        };
        responses: {
            /** @description The file; several as a ZIP. */
            200: {
                headers: {
                    /** @description Engine time. */
                    "Lathe-Conversion-Seconds"?: number;
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "*/*": unknown;
                };
            };
            /** @description The work takes longer, or no engine is free, and it has become a job. */
            202: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Job"];
                };
            };
            /** @description Redirects to the address in Location. */
            303: {
                headers: {
                    Location?: string;
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "instant-pdf-optimize": {
        parameters: {
            query?: never;
            header?: {
                /** @description Such as `wait=25`: waits up to 25 seconds for the end, and returns the result (RFC 7240). */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Overrides the name of the file. */
                    filename?: string;
                    /** @description A page as HTML, instead of a file in the request. */
                    html?: string;
                    /** @description Id of the task to read files from. Can be an array. */
                    input?: string | string[];
                    /** @description File extension without a dot. */
                    input_format?: components["schemas"]["PdfOptimizeInputFormat"];
                    /**
                     * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
                     * @default {}
                     */
                    options?: components["schemas"]["PdfOptimizeOptions"];
                    /** @description File extension without a dot. */
                    output_format?: components["schemas"]["PdfOptimizeOutputFormat"];
                    /**
                     * @description URL of a file, instead of a file in the request.
                     * @example https://example.com/file.png
                     */
                    url?: string & (unknown & unknown);
                } | unknown | unknown | unknown;
                "multipart/form-data": {
                    /**
                     * Format: binary
                     * @description A file. Repeat the field for several.
                     */
                    file: string;
                    /** @description Overrides the name of the file. */
                    filename?: string;
                    /** @description File extension without a dot. */
                    input_format?: components["schemas"]["PdfOptimizeInputFormat"];
                    /**
                     * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
                     * @default {}
                     */
                    options?: components["schemas"]["PdfOptimizeOptions"];
                    /** @description File extension without a dot. */
                    output_format?: components["schemas"]["PdfOptimizeOutputFormat"];
                };
            };
        };
        responses: {
            /** @description The file; several as a ZIP. */
            200: {
                headers: {
                    /** @description Engine time. */
                    "Lathe-Conversion-Seconds"?: number;
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "*/*": unknown;
                };
            };
            /** @description The work takes longer, or no engine is free, and it has become a job. */
            202: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Job"];
                };
            };
            /** @description Redirects to the address in Location. */
            303: {
                headers: {
                    Location?: string;
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "instant-pdf-redact": {
        parameters: {
            query?: never;
            header?: {
                /** @description Such as `wait=25`: waits up to 25 seconds for the end, and returns the result (RFC 7240). */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Overrides the name of the file. */
                    filename?: string;
                    /** @description A page as HTML, instead of a file in the request. */
                    html?: string;
                    /** @description Id of the task to read files from. Can be an array. */
                    input?: string | string[];
                    /** @description File extension without a dot. */
                    input_format?: components["schemas"]["PdfRedactInputFormat"];
                    /**
                     * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
                     * @default {}
                     */
                    options?: components["schemas"]["PdfRedactOptions"];
                    /** @description File extension without a dot. */
                    output_format?: components["schemas"]["PdfRedactOutputFormat"];
                    /**
                     * @description URL of a file, instead of a file in the request.
                     * @example https://example.com/file.png
                     */
                    url?: string & (unknown & unknown);
                } | unknown | unknown | unknown;
                "multipart/form-data": {
                    /**
                     * Format: binary
                     * @description A file. Repeat the field for several.
                     */
                    file: string;
                    /** @description Overrides the name of the file. */
                    filename?: string;
                    /** @description File extension without a dot. */
                    input_format?: components["schemas"]["PdfRedactInputFormat"];
                    /**
                     * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
                     * @default {}
                     */
                    options?: components["schemas"]["PdfRedactOptions"];
                    /** @description File extension without a dot. */
                    output_format?: components["schemas"]["PdfRedactOutputFormat"];
                };
            };
        };
        responses: {
            /** @description The file; several as a ZIP. */
            200: {
                headers: {
                    /** @description Engine time. */
                    "Lathe-Conversion-Seconds"?: number;
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "*/*": unknown;
                };
            };
            /** @description The work takes longer, or no engine is free, and it has become a job. */
            202: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Job"];
                };
            };
            /** @description Redirects to the address in Location. */
            303: {
                headers: {
                    Location?: string;
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "instant-pdf-reorder": {
        parameters: {
            query?: never;
            header?: {
                /** @description Such as `wait=25`: waits up to 25 seconds for the end, and returns the result (RFC 7240). */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Overrides the name of the file. */
                    filename?: string;
                    /** @description A page as HTML, instead of a file in the request. */
                    html?: string;
                    /** @description Id of the task to read files from. Can be an array. */
                    input?: string | string[];
                    /** @description File extension without a dot. */
                    input_format?: components["schemas"]["PdfReorderInputFormat"];
                    /**
                     * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
                     * @default {}
                     */
                    options?: components["schemas"]["PdfReorderOptions"];
                    /** @description File extension without a dot. */
                    output_format?: components["schemas"]["PdfReorderOutputFormat"];
                    /**
                     * @description URL of a file, instead of a file in the request.
                     * @example https://example.com/file.png
                     */
                    url?: string & (unknown & unknown);
                } | unknown | unknown | unknown;
                "multipart/form-data": {
                    /**
                     * Format: binary
                     * @description A file. Repeat the field for several.
                     */
                    file: string;
                    /** @description Overrides the name of the file. */
                    filename?: string;
                    /** @description File extension without a dot. */
                    input_format?: components["schemas"]["PdfReorderInputFormat"];
                    /**
                     * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
                     * @default {}
                     */
                    options?: components["schemas"]["PdfReorderOptions"];
                    /** @description File extension without a dot. */
                    output_format?: components["schemas"]["PdfReorderOutputFormat"];
                };
            };
        };
        responses: {
            /** @description The file; several as a ZIP. */
            200: {
                headers: {
                    /** @description Engine time. */
                    "Lathe-Conversion-Seconds"?: number;
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "*/*": unknown;
                };
            };
            /** @description The work takes longer, or no engine is free, and it has become a job. */
            202: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Job"];
                };
            };
            /** @description Redirects to the address in Location. */
            303: {
                headers: {
                    Location?: string;
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "instant-pdf-rotate": {
        parameters: {
            query?: never;
            header?: {
                /** @description Such as `wait=25`: waits up to 25 seconds for the end, and returns the result (RFC 7240). */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Overrides the name of the file. */
                    filename?: string;
                    /** @description A page as HTML, instead of a file in the request. */
                    html?: string;
                    /** @description Id of the task to read files from. Can be an array. */
                    input?: string | string[];
                    /** @description File extension without a dot. */
                    input_format?: components["schemas"]["PdfRotateInputFormat"];
                    /**
                     * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
                     * @default {}
                     */
                    options?: components["schemas"]["PdfRotateOptions"];
                    /** @description File extension without a dot. */
                    output_format?: components["schemas"]["PdfRotateOutputFormat"];
                    /**
                     * @description URL of a file, instead of a file in the request.
                     * @example https://example.com/file.png
                     */
                    url?: string & (unknown & unknown);
                } | unknown | unknown | unknown;
                "multipart/form-data": {
                    /**
                     * Format: binary
                     * @description A file. Repeat the field for several.
                     */
                    file: string;
                    /** @description Overrides the name of the file. */
                    filename?: string;
                    /** @description File extension without a dot. */
                    input_format?: components["schemas"]["PdfRotateInputFormat"];
                    /**
                     * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
                     * @default {}
                     */
                    options?: components["schemas"]["PdfRotateOptions"];
                    /** @description File extension without a dot. */
                    output_format?: components["schemas"]["PdfRotateOutputFormat"];
                };
            };
        };
        responses: {
            /** @description The file; several as a ZIP. */
            200: {
                headers: {
                    /** @description Engine time. */
                    "Lathe-Conversion-Seconds"?: number;
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "*/*": unknown;
                };
            };
            /** @description The work takes longer, or no engine is free, and it has become a job. */
            202: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Job"];
                };
            };
            /** @description Redirects to the address in Location. */
            303: {
                headers: {
                    Location?: string;
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "instant-pdf-sign": {
        parameters: {
            query?: never;
            header?: {
                /** @description Such as `wait=25`: waits up to 25 seconds for the end, and returns the result (RFC 7240). */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Overrides the name of the file. */
                    filename?: string;
                    /** @description A page as HTML, instead of a file in the request. */
                    html?: string;
                    /** @description Id of the task to read files from. Can be an array. */
                    input?: string | string[];
                    /** @description File extension without a dot. */
                    input_format?: components["schemas"]["PdfSignInputFormat"];
                    /**
                     * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
                     * @default {}
                     */
                    options?: components["schemas"]["PdfSignOptions"];
                    /** @description File extension without a dot. */
                    output_format?: components["schemas"]["PdfSignOutputFormat"];
                    /** @description The picture to draw. The name or id of a task, or an array of them. */
                    picture?: string | string[];
                    /**
                     * @description URL of a file, instead of a file in the request.
                     * @example https://example.com/file.png
                     */
                    url?: string & (unknown & unknown);
                } | unknown | unknown | unknown;
                "multipart/form-data": {
                    /**
                     * Format: binary
                     * @description A file. Repeat the field for several.
                     */
                    file: string;
                    /** @description Overrides the name of the file. */
                    filename?: string;
                    /** @description File extension without a dot. */
                    input_format?: components["schemas"]["PdfSignInputFormat"];
                    /**
                     * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
                     * @default {}
                     */
                    options?: components["schemas"]["PdfSignOptions"];
                    /** @description File extension without a dot. */
                    output_format?: components["schemas"]["PdfSignOutputFormat"];
                    /** @description The picture to draw. The name or id of a task, or an array of them. */
                    picture?: string | string[];
                };
            };
        };
        responses: {
            /** @description The file; several as a ZIP. */
            200: {
                headers: {
                    /** @description Engine time. */
                    "Lathe-Conversion-Seconds"?: number;
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "*/*": unknown;
                };
            };
            /** @description The work takes longer, or no engine is free, and it has become a job. */
            202: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Job"];
                };
            };
            /** @description Redirects to the address in Location. */
            303: {
                headers: {
                    Location?: string;
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "instant-pdf-split": {
        parameters: {
            query?: never;
            header?: {
                /** @description Such as `wait=25`: waits up to 25 seconds for the end, and returns the result (RFC 7240). */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Overrides the name of the file. */
                    filename?: string;
                    /** @description A page as HTML, instead of a file in the request. */
                    html?: string;
                    /** @description Id of the task to read files from. Can be an array. */
                    input?: string | string[];
                    /** @description File extension without a dot. */
                    input_format?: components["schemas"]["PdfSplitInputFormat"];
                    /**
                     * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
                     * @default {}
                     */
                    options?: components["schemas"]["PdfSplitOptions"];
                    /** @description File extension without a dot. */
                    output_format?: components["schemas"]["PdfSplitOutputFormat"];
                    /**
                     * @description URL of a file, instead of a file in the request.
                     * @example https://example.com/file.png
                     */
                    url?: string & (unknown & unknown);
                } | unknown | unknown | unknown;
                "multipart/form-data": {
                    /**
                     * Format: binary
                     * @description A file. Repeat the field for several.
                     */
                    file: string;
                    /** @description Overrides the name of the file. */
                    filename?: string;
                    /** @description File extension without a dot. */
                    input_format?: components["schemas"]["PdfSplitInputFormat"];
                    /**
                     * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
                     * @default {}
                     */
                    options?: components["schemas"]["PdfSplitOptions"];
                    /** @description File extension without a dot. */
                    output_format?: components["schemas"]["PdfSplitOutputFormat"];
                };
            };
        };
        responses: {
            /** @description The file; several as a ZIP. */
            200: {
                headers: {
                    /** @description Engine time. */
                    "Lathe-Conversion-Seconds"?: number;
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "*/*": unknown;
                };
            };
            /** @description The work takes longer, or no engine is free, and it has become a job. */
            202: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Job"];
                };
            };
            /** @description Redirects to the address in Location. */
            303: {
                headers: {
                    Location?: string;
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "instant-pdf-stamp": {
        parameters: {
            query?: never;
            header?: {
                /** @description Such as `wait=25`: waits up to 25 seconds for the end, and returns the result (RFC 7240). */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Overrides the name of the file. */
                    filename?: string;
                    /** @description A page as HTML, instead of a file in the request. */
                    html?: string;
                    /** @description Id of the task to read files from. Can be an array. */
                    input?: string | string[];
                    /** @description File extension without a dot. */
                    input_format?: components["schemas"]["PdfStampInputFormat"];
                    /**
                     * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
                     * @default {}
                     */
                    options?: components["schemas"]["PdfStampOptions"];
                    /** @description File extension without a dot. */
                    output_format?: components["schemas"]["PdfStampOutputFormat"];
                    /** @description The picture to draw. The name or id of a task, or an array of them. */
                    picture?: string | string[];
                    /**
                     * @description URL of a file, instead of a file in the request.
                     * @example https://example.com/file.png
                     */
                    url?: string & (unknown & unknown);
                } | unknown | unknown | unknown;
                "multipart/form-data": {
                    /**
                     * Format: binary
                     * @description A file. Repeat the field for several.
                     */
                    file: string;
                    /** @description Overrides the name of the file. */
                    filename?: string;
                    /** @description File extension without a dot. */
                    input_format?: components["schemas"]["PdfStampInputFormat"];
                    /**
                     * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
                     * @default {}
                     */
                    options?: components["schemas"]["PdfStampOptions"];
                    /** @description File extension without a dot. */
                    output_format?: components["schemas"]["PdfStampOutputFormat"];
                    /** @description The picture to draw. The name or id of a task, or an array of them. */
                    picture?: string | string[];
                };
            };
        };
        responses: {
            /** @description The file; several as a ZIP. */
            200: {
                headers: {
                    /** @description Engine time. */
                    "Lathe-Conversion-Seconds"?: number;
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "*/*": unknown;
                };
            };
            /** @description The work takes longer, or no engine is free, and it has become a job. */
            202: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Job"];
                };
            };
            /** @description Redirects to the address in Location. */
            303: {
                headers: {
                    Location?: string;
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "instant-pdf-ua": {
        parameters: {
            query?: never;
            header?: {
                /** @description Such as `wait=25`: waits up to 25 seconds for the end, and returns the result (RFC 7240). */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Overrides the name of the file. */
                    filename?: string;
                    /** @description A page as HTML, instead of a file in the request. */
                    html?: string;
                    /** @description Id of the task to read files from. Can be an array. */
                    input?: string | string[];
                    /** @description File extension without a dot. */
                    input_format?: components["schemas"]["PdfUaInputFormat"];
                    /**
                     * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
                     * @default {}
                     */
                    options?: components["schemas"]["PdfUaOptions"];
                    /** @description File extension without a dot. */
                    output_format?: components["schemas"]["PdfUaOutputFormat"];
                    /**
                     * @description URL of a file, instead of a file in the request.
                     * @example https://example.com/file.png
                     */
                    url?: string & (unknown & unknown);
                } | unknown | unknown | unknown;
                "multipart/form-data": {
                    /**
                     * Format: binary
                     * @description A file. Repeat the field for several.
                     */
                    file: string;
                    /** @description Overrides the name of the file. */
                    filename?: string;
                    /** @description File extension without a dot. */
                    input_format?: components["schemas"]["PdfUaInputFormat"];
                    /**
                     * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
                     * @default {}
                     */
                    options?: components["schemas"]["PdfUaOptions"];
                    /** @description File extension without a dot. */
                    output_format?: components["schemas"]["PdfUaOutputFormat"];
                };
            };
        };
        responses: {
            /** @description The file; several as a ZIP. */
            200: {
                headers: {
                    /** @description Engine time. */
                    "Lathe-Conversion-Seconds"?: number;
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "*/*": unknown;
                };
            };
            /** @description The work takes longer, or no engine is free, and it has become a job. */
            202: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Job"];
                };
            };
            /** @description Redirects to the address in Location. */
            303: {
                headers: {
                    Location?: string;
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "instant-pdf-verify": {
        parameters: {
            query?: never;
            header?: {
                /** @description Such as `wait=25`: waits up to 25 seconds for the end, and returns the result (RFC 7240). */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Overrides the name of the file. */
                    filename?: string;
                    /** @description A page as HTML, instead of a file in the request. */
                    html?: string;
                    /** @description Id of the task to read files from. Can be an array. */
                    input?: string | string[];
                    /** @description File extension without a dot. */
                    input_format?: components["schemas"]["PdfVerifyInputFormat"];
                    /**
                     * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
                     * @default {}
                     */
                    options?: components["schemas"]["PdfVerifyOptions"];
                    /** @description File extension without a dot. */
                    output_format?: components["schemas"]["PdfVerifyOutputFormat"];
                    /** @description Certificates of the authorities that you trust, in PEM. The name or id of a task, or an array of them. */
                    trust?: string | string[];
                    /**
                     * @description URL of a file, instead of a file in the request.
                     * @example https://example.com/file.png
                     */
                    url?: string & (unknown & unknown);
                } | unknown | unknown | unknown;
                "multipart/form-data": {
                    /**
                     * Format: binary
                     * @description A file. Repeat the field for several.
                     */
                    file: string;
                    /** @description Overrides the name of the file. */
                    filename?: string;
                    /** @description File extension without a dot. */
                    input_format?: components["schemas"]["PdfVerifyInputFormat"];
                    /**
                     * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
                     * @default {}
                     */
                    options?: components["schemas"]["PdfVerifyOptions"];
                    /** @description File extension without a dot. */
                    output_format?: components["schemas"]["PdfVerifyOutputFormat"];
                    /** @description Certificates of the authorities that you trust, in PEM. The name or id of a task, or an array of them. */
                    trust?: string | string[];
                };
            };
        };
        responses: {
            /** @description The file; several as a ZIP. */
            200: {
                headers: {
                    /** @description Engine time. */
                    "Lathe-Conversion-Seconds"?: number;
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "*/*": unknown;
                };
            };
            /** @description The work takes longer, or no engine is free, and it has become a job. */
            202: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Job"];
                };
            };
            /** @description Redirects to the address in Location. */
            303: {
                headers: {
                    Location?: string;
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "instant-pdf-watermark": {
        parameters: {
            query?: never;
            header?: {
                /** @description Such as `wait=25`: waits up to 25 seconds for the end, and returns the result (RFC 7240). */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Overrides the name of the file. */
                    filename?: string;
                    /** @description A page as HTML, instead of a file in the request. */
                    html?: string;
                    /** @description Id of the task to read files from. Can be an array. */
                    input?: string | string[];
                    /** @description File extension without a dot. */
                    input_format?: components["schemas"]["PdfWatermarkInputFormat"];
                    /**
                     * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
                     * @default {}
                     */
                    options?: components["schemas"]["PdfWatermarkOptions"];
                    /** @description File extension without a dot. */
                    output_format?: components["schemas"]["PdfWatermarkOutputFormat"];
                    /** @description The picture to draw. The name or id of a task, or an array of them. */
                    picture?: string | string[];
                    /**
                     * @description URL of a file, instead of a file in the request.
                     * @example https://example.com/file.png
                     */
                    url?: string & (unknown & unknown);
                } | unknown | unknown | unknown;
                "multipart/form-data": {
                    /**
                     * Format: binary
                     * @description A file. Repeat the field for several.
                     */
                    file: string;
                    /** @description Overrides the name of the file. */
                    filename?: string;
                    /** @description File extension without a dot. */
                    input_format?: components["schemas"]["PdfWatermarkInputFormat"];
                    /**
                     * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
                     * @default {}
                     */
                    options?: components["schemas"]["PdfWatermarkOptions"];
                    /** @description File extension without a dot. */
                    output_format?: components["schemas"]["PdfWatermarkOutputFormat"];
                    /** @description The picture to draw. The name or id of a task, or an array of them. */
                    picture?: string | string[];
                };
            };
        };
        responses: {
            /** @description The file; several as a ZIP. */
            200: {
                headers: {
                    /** @description Engine time. */
                    "Lathe-Conversion-Seconds"?: number;
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "*/*": unknown;
                };
            };
            /** @description The work takes longer, or no engine is free, and it has become a job. */
            202: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Job"];
                };
            };
            /** @description Redirects to the address in Location. */
            303: {
                headers: {
                    Location?: string;
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "instant-trim": {
        parameters: {
            query?: never;
            header?: {
                /** @description Such as `wait=25`: waits up to 25 seconds for the end, and returns the result (RFC 7240). */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Overrides the name of the file. */
                    filename?: string;
                    /** @description A page as HTML, instead of a file in the request. */
                    html?: string;
                    /** @description Id of the task to read files from. Can be an array. */
                    input?: string | string[];
                    /** @description File extension without a dot. */
                    input_format?: components["schemas"]["TrimInputFormat"];
                    /**
                     * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
                     * @default {}
                     */
                    options?: components["schemas"]["TrimOptions"];
                    /** @description File extension without a dot. */
                    output_format?: components["schemas"]["TrimOutputFormat"];
                    /**
                     * @description URL of a file, instead of a file in the request.
                     * @example https://example.com/file.png
                     */
                    url?: string & (unknown & unknown);
                } | unknown | unknown | unknown;
                "multipart/form-data": {
                    /**
                     * Format: binary
                     * @description A file. Repeat the field for several.
                     */
                    file: string;
                    /** @description Overrides the name of the file. */
                    filename?: string;
                    /** @description File extension without a dot. */
                    input_format?: components["schemas"]["TrimInputFormat"];
                    /**
                     * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
                     * @default {}
                     */
                    options?: components["schemas"]["TrimOptions"];
                    /** @description File extension without a dot. */
                    output_format?: components["schemas"]["TrimOutputFormat"];
                };
            };
        };
        responses: {
            /** @description The file; several as a ZIP. */
            200: {
                headers: {
                    /** @description Engine time. */
                    "Lathe-Conversion-Seconds"?: number;
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "*/*": unknown;
                };
            };
            /** @description The work takes longer, or no engine is free, and it has become a job. */
            202: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Job"];
                };
            };
            /** @description Redirects to the address in Location. */
            303: {
                headers: {
                    Location?: string;
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    openapi: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Return the OpenAPI 3.1 document of this API */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": unknown;
                };
            };
        };
    };
    compress: {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeated request with the same key and body returns the same resource. */
                "Idempotency-Key"?: string;
                /** @description Such as `wait=25`: waits up to 25 seconds for the end, and returns the result (RFC 7240). */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Overrides the name of the file. */
                    filename?: string;
                    /** @description Id of the task to read files from. Can be an array. */
                    input: string | string[];
                    /** @description File extension without a dot. */
                    input_format?: components["schemas"]["CompressInputFormat"];
                    /**
                     * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
                     * @default {}
                     */
                    options?: components["schemas"]["CompressOptions"];
                    /** @description File extension without a dot. */
                    output_format?: components["schemas"]["CompressOutputFormat"];
                };
            };
        };
        responses: {
            /** @description Compress files */
            201: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Task"];
                };
            };
        };
    };
    convert: {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeated request with the same key and body returns the same resource. */
                "Idempotency-Key"?: string;
                /** @description Such as `wait=25`: waits up to 25 seconds for the end, and returns the result (RFC 7240). */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Overrides the name of the file. */
                    filename?: string;
                    /** @description Fonts to draw the text with, in addition to those that are installed. The name or id of a task, or an array of them. */
                    fonts?: string | string[];
                    /** @description Id of the task to read files from. Can be an array. */
                    input: string | string[];
                    /** @description File extension without a dot. */
                    input_format?: components["schemas"]["ConvertInputFormat"];
                    /**
                     * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
                     * @default {}
                     */
                    options?: components["schemas"]["ConvertOptions"];
                    /** @description File extension without a dot. */
                    output_format: components["schemas"]["ConvertOutputFormat"];
                };
            };
        };
        responses: {
            /** @description Convert files to another format */
            201: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Task"];
                };
            };
        };
    };
    crop: {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeated request with the same key and body returns the same resource. */
                "Idempotency-Key"?: string;
                /** @description Such as `wait=25`: waits up to 25 seconds for the end, and returns the result (RFC 7240). */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Overrides the name of the file. */
                    filename?: string;
                    /** @description Id of the task to read files from. Can be an array. */
                    input: string | string[];
                    /** @description File extension without a dot. */
                    input_format?: components["schemas"]["CropInputFormat"];
                    /**
                     * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
                     * @default {}
                     */
                    options?: components["schemas"]["CropOptions"];
                    /** @description File extension without a dot. */
                    output_format?: components["schemas"]["CropOutputFormat"];
                };
            };
        };
        responses: {
            /** @description Crop images, videos or PDF pages */
            201: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Task"];
                };
            };
        };
    };
    "export-blobstore": {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeated request with the same key and body returns the same resource. */
                "Idempotency-Key"?: string;
                /** @description Such as `wait=25`: waits up to 25 seconds for the end, and returns the result (RFC 7240). */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    blob?: string;
                    blob_prefix?: string;
                    /** @description Container of Azure Blob Storage. */
                    container: string;
                    /** @description Content-Disposition header of the stored files. */
                    content_disposition?: string & (unknown & unknown);
                    /** @description Media type of the stored files. Defaults to that of each file. */
                    content_type?: string & (unknown & unknown);
                    /** @description Store the files of a ZIP, such as those of HLS, below the prefix instead of the ZIP itself. They may not be compressed. */
                    extract?: boolean;
                    /** @description Id of the task to read files from. Can be an array. */
                    input: string | string[];
                    /** Format: password */
                    sas_token?: string;
                    /**
                     * Format: password
                     * @description Required unless sas_token is given.
                     */
                    storage_access_key?: string;
                    storage_account: string & (unknown & unknown);
                } & ((unknown | unknown) & (unknown | unknown));
            };
        };
        responses: {
            /** @description Export to Azure Blob Storage */
            201: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Task"];
                };
            };
        };
    };
    "export-objstore-a": {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeated request with the same key and body returns the same resource. */
                "Idempotency-Key"?: string;
                /** @description Such as `wait=25`: waits up to 25 seconds for the end, and returns the result (RFC 7240). */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * Format: password
                     * @description Omit together with secret_access_key if the deployment itself has access to the bucket.
                     */
                    access_key_id?: string;
                    /** @description Bucket of Amazon S3 or a compatible store. */
                    bucket: string;
                    /** @description Content-Disposition header of the stored files. */
                    content_disposition?: string & (unknown & unknown);
                    /** @description Media type of the stored files. Defaults to that of each file. */
                    content_type?: string & (unknown & unknown);
                    /**
                     * @description Custom API endpoint. Defaults to that of the region.
                     * @example https://example.com/file.png
                     */
                    endpoint?: string & (unknown & unknown);
                    /** @description Store the files of a ZIP, such as those of HLS, below the prefix instead of the ZIP itself. They may not be compressed. */
                    extract?: boolean;
                    /** @description Id of the task to read files from. Can be an array. */
                    input: string | string[];
                    key?: string;
                    key_prefix?: string;
                    region: string & (unknown & unknown);
                    /** Format: password */
                    secret_access_key?: string;
                    /** Format: password */
                    session_token?: string;
                } & (unknown & (unknown | unknown));
            };
        };
        responses: {
            /** @description Export to Amazon S3 or a compatible store */
            201: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Task"];
                };
            };
        };
    };
    "export-objstore-b": {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeated request with the same key and body returns the same resource. */
                "Idempotency-Key"?: string;
                /** @description Such as `wait=25`: waits up to 25 seconds for the end, and returns the result (RFC 7240). */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Bucket of Google Cloud Storage. */
                    bucket: string;
                    /** Format: password */
                    client_email: string;
                    /** @description Content-Disposition header of the stored files. */
                    content_disposition?: string & (unknown & unknown);
                    /** @description Media type of the stored files. Defaults to that of each file. */
                    content_type?: string & (unknown & unknown);
                    /** @description Store the files of a ZIP, such as those of HLS, below the prefix instead of the ZIP itself. They may not be compressed. */
                    extract?: boolean;
                    file?: string;
                    file_prefix?: string;
                    /** @description Id of the task to read files from. Can be an array. */
                    input: string | string[];
                    /** Format: password */
                    private_key: string;
                    /** @description Google Cloud project. */
                    project_id: string;
                } & (unknown | unknown);
            };
        };
        responses: {
            /** @description Export to Google Cloud Storage */
            201: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Task"];
                };
            };
        };
    };
    "export-sftp": {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeated request with the same key and body returns the same resource. */
                "Idempotency-Key"?: string;
                /** @description Such as `wait=25`: waits up to 25 seconds for the end, and returns the result (RFC 7240). */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Store the files of a ZIP, such as those of HLS, below the prefix instead of the ZIP itself. They may not be compressed. */
                    extract?: boolean;
                    file_string?: string;
                    host: string | number;
                    /** @description SHA-256 fingerprint that the host key of the server must have. */
                    host_key_fingerprint?: string;
                    /** @description Id of the task to read files from. Can be an array. */
                    input: string | string[];
                    /**
                     * Format: password
                     * @description Required unless private_key is given.
                     */
                    password?: string;
                    path_prefix?: string;
                    port?: number | string;
                    /** Format: password */
                    private_key?: string;
                    /** Format: password */
                    username: string;
                } & ((unknown | unknown) & (unknown | unknown));
            };
        };
        responses: {
            /** @description Export to an SFTP server */
            201: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Task"];
                };
            };
        };
    };
    "export-url": {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeated request with the same key and body returns the same resource. */
                "Idempotency-Key"?: string;
                /** @description Such as `wait=25`: waits up to 25 seconds for the end, and returns the result (RFC 7240). */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * @description Return one ZIP of all files instead of a link to each.
                     * @default false
                     */
                    archive_multiple_files?: boolean;
                    /** @description Overrides the name of the file. */
                    filename?: string;
                    /** @description Id of the task to read files from. Can be an array. */
                    input: string | string[];
                };
            };
        };
        responses: {
            /** @description Create temporary download links */
            201: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Task"];
                };
            };
        };
    };
    "import-base64": {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeated request with the same key and body returns the same resource. */
                "Idempotency-Key"?: string;
                /** @description Such as `wait=25`: waits up to 25 seconds for the end, and returns the result (RFC 7240). */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Content as a data URI: data:<media_type>;base64,<data>. Padding is optional, white space is ignored, and the URL-safe alphabet is accepted. */
                    file: string;
                    /** @description File name including extension. */
                    filename: string;
                };
            };
        };
        responses: {
            /** @description Import a small file sent in the request */
            201: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Task"];
                };
            };
        };
    };
    "import-blobstore": {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeated request with the same key and body returns the same resource. */
                "Idempotency-Key"?: string;
                /** @description Such as `wait=25`: waits up to 25 seconds for the end, and returns the result (RFC 7240). */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Blob name including path. */
                    blob: string;
                    /** @description Container of Azure Blob Storage. */
                    container: string;
                    /** @description Overrides the name of the file. */
                    filename?: string;
                    /** Format: password */
                    sas_token?: string;
                    /**
                     * Format: password
                     * @description Required unless sas_token is given.
                     */
                    storage_access_key?: string;
                    storage_account: string & (unknown & unknown);
                } & (unknown | unknown);
            };
        };
        responses: {
            /** @description Import from Azure Blob Storage */
            201: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Task"];
                };
            };
        };
    };
    "import-objstore-a": {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeated request with the same key and body returns the same resource. */
                "Idempotency-Key"?: string;
                /** @description Such as `wait=25`: waits up to 25 seconds for the end, and returns the result (RFC 7240). */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * Format: password
                     * @description Omit together with secret_access_key if the deployment itself has access to the bucket.
                     */
                    access_key_id?: string;
                    /** @description Bucket of Amazon S3 or a compatible store. */
                    bucket: string;
                    /**
                     * @description Custom API endpoint. Defaults to that of the region.
                     * @example https://example.com/file.png
                     */
                    endpoint?: string & (unknown & unknown);
                    /** @description Overrides the name of the file. */
                    filename?: string;
                    key?: string;
                    /** @description Imports every file with this prefix, instead of key. Only available in jobs. */
                    key_prefix?: string;
                    region: string & (unknown & unknown);
                    /** Format: password */
                    secret_access_key?: string;
                    /** Format: password */
                    session_token?: string;
                } & (unknown & unknown & (unknown | unknown));
            };
        };
        responses: {
            /** @description Import from Amazon S3 or a compatible store */
            201: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Task"];
                };
            };
        };
    };
    "import-objstore-b": {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeated request with the same key and body returns the same resource. */
                "Idempotency-Key"?: string;
                /** @description Such as `wait=25`: waits up to 25 seconds for the end, and returns the result (RFC 7240). */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Bucket of Google Cloud Storage. */
                    bucket: string;
                    /** Format: password */
                    client_email: string;
                    /** @description Object name in the bucket, including path. */
                    file: string;
                    /** @description Overrides the name of the file. */
                    filename?: string;
                    /** Format: password */
                    private_key: string;
                    /** @description Google Cloud project. */
                    project_id: string;
                };
            };
        };
        responses: {
            /** @description Import from Google Cloud Storage */
            201: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Task"];
                };
            };
        };
    };
    "import-sftp": {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeated request with the same key and body returns the same resource. */
                "Idempotency-Key"?: string;
                /** @description Such as `wait=25`: waits up to 25 seconds for the end, and returns the result (RFC 7240). */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description File name on the server, including path. */
                    file_string: string;
                    /** @description Overrides the name of the file. */
                    filename?: string;
                    host: string | number;
                    /** @description SHA-256 fingerprint that the host key of the server must have. */
                    host_key_fingerprint?: string;
                    /**
                     * Format: password
                     * @description Required unless private_key is given.
                     */
                    password?: string;
                    port?: number | string;
                    /** Format: password */
                    private_key?: string;
                    /** Format: password */
                    username: string;
                } & (unknown | unknown);
            };
        };
        responses: {
            /** @description Import from an SFTP server */
            201: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Task"];
                };
            };
        };
    };
    "import-upload": {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeated request with the same key and body returns the same resource. */
                "Idempotency-Key"?: string;
                /** @description Such as `wait=25`: waits up to 25 seconds for the end, and returns the result (RFC 7240). */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description Import a file that the client posts to the returned form */
            201: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Task"];
                };
            };
        };
    };
    "import-url": {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeated request with the same key and body returns the same resource. */
                "Idempotency-Key"?: string;
                /** @description Such as `wait=25`: waits up to 25 seconds for the end, and returns the result (RFC 7240). */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Overrides the name of the file. */
                    filename?: string;
                    /** @description Request headers, such as credentials. They are not sent to another origin on a redirect. */
                    headers?: {
                        [key: string]: string;
                    };
                    /**
                     * @description URL of the remote file.
                     * @example https://example.com/file.png
                     */
                    url: string & (unknown & unknown);
                };
            };
        };
        responses: {
            /** @description Import a file from a URL */
            201: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Task"];
                };
            };
        };
    };
    "import-webpage": {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeated request with the same key and body returns the same resource. */
                "Idempotency-Key"?: string;
                /** @description Such as `wait=25`: waits up to 25 seconds for the end, and returns the result (RFC 7240). */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Overrides the name of the file. */
                    filename?: string;
                    /**
                     * @description URL of the web page.
                     * @example https://example.com/file.png
                     */
                    url: string & (unknown & unknown);
                };
            };
        };
        responses: {
            /** @description Import a web page */
            201: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Task"];
                };
            };
        };
    };
    "invoice-embed": {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeated request with the same key and body returns the same resource. */
                "Idempotency-Key"?: string;
                /** @description Such as `wait=25`: waits up to 25 seconds for the end, and returns the result (RFC 7240). */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Overrides the name of the file. */
                    filename?: string;
                    /** @description Id of the task to read files from. Can be an array. */
                    input: string | string[];
                    /** @description File extension without a dot. */
                    input_format?: components["schemas"]["InvoiceEmbedInputFormat"];
                    /** @description The invoice as XML. The name or id of a task, or an array of them. */
                    invoice: string | string[];
                    /**
                     * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
                     * @default {}
                     */
                    options?: components["schemas"]["InvoiceEmbedOptions"];
                    /** @description File extension without a dot. */
                    output_format?: components["schemas"]["InvoiceEmbedOutputFormat"];
                };
            };
        };
        responses: {
            /** @description Make a Factur-X or ZUGFeRD invoice of a PDF */
            201: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Task"];
                };
            };
        };
    };
    "invoice-extract": {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeated request with the same key and body returns the same resource. */
                "Idempotency-Key"?: string;
                /** @description Such as `wait=25`: waits up to 25 seconds for the end, and returns the result (RFC 7240). */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Overrides the name of the file. */
                    filename?: string;
                    /** @description Id of the task to read files from. Can be an array. */
                    input: string | string[];
                    /** @description File extension without a dot. */
                    input_format?: components["schemas"]["InvoiceExtractInputFormat"];
                    /**
                     * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
                     * @default {}
                     */
                    options?: components["schemas"]["InvoiceExtractOptions"];
                    /** @description File extension without a dot. */
                    output_format?: components["schemas"]["InvoiceExtractOutputFormat"];
                };
            };
        };
        responses: {
            /** @description Extract the XML of an electronic invoice */
            201: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Task"];
                };
            };
        };
    };
    "list-jobs": {
        parameters: {
            query?: {
                /** @description Fields to add to the response, comma-separated: tasks. */
                include?: string;
                /** @description Page number. Defaults to 1. */
                page?: number;
                /** @description Page size. Defaults to 50. */
                per_page?: number;
                status?: "created" | "processing" | "completed" | "failed";
                tag?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List jobs, newest first */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JobPage"];
                };
            };
        };
    };
    "create-job": {
        parameters: {
            query?: {
                /** @description If true, validates the request and estimates its conversion time without creating anything. */
                dry_run?: "true" | "false";
            };
            header?: {
                /** @description A repeated request with the same key and body returns the same resource. */
                "Idempotency-Key"?: string;
                /** @description Such as `wait=25`: waits up to 25 seconds for the end, and returns the result (RFC 7240). */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Arbitrary label. */
                    tag?: string;
                    /** @description Task names to task definitions. */
                    tasks: {
                        [key: string]: components["schemas"]["TaskDefinition"];
                    };
                    /**
                     * @description Called when the job is created, completes or fails. The response contains the signing secret.
                     * @example https://example.com/file.png
                     */
                    webhook_url?: string & (unknown & unknown);
                };
            };
        };
        responses: {
            /** @description The request is valid (with dry_run=true). */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DryRun"];
                };
            };
            /** @description Create a job with all its tasks */
            201: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Job"];
                };
            };
        };
    };
    "show-job": {
        parameters: {
            query?: {
                /** @description Fields to add to the response, comma-separated: tasks. */
                include?: string;
            };
            header?: never;
            path: {
                jobId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Show a job with its tasks */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Job"];
                };
            };
        };
    };
    "delete-job": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                jobId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "wait-for-job": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                jobId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Wait up to 25 seconds for all tasks of a job to end, and show it */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Job"];
                };
            };
        };
    };
    merge: {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeated request with the same key and body returns the same resource. */
                "Idempotency-Key"?: string;
                /** @description Such as `wait=25`: waits up to 25 seconds for the end, and returns the result (RFC 7240). */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Overrides the name of the file. */
                    filename?: string;
                    /** @description Ids of the tasks to read files from, in this order. */
                    input: string[];
                    /**
                     * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
                     * @default {}
                     */
                    options?: components["schemas"]["MergeOptions"];
                    /** @enum {string} */
                    output_format: "pdf" | "gif";
                };
            };
        };
        responses: {
            /** @description Merge documents, PDFs and images into one file */
            201: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Task"];
                };
            };
        };
    };
    "pdf-a": {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeated request with the same key and body returns the same resource. */
                "Idempotency-Key"?: string;
                /** @description Such as `wait=25`: waits up to 25 seconds for the end, and returns the result (RFC 7240). */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Files to embed. The name or id of a task, or an array of them. */
                    attachments?: string | string[];
                    /** @description Overrides the name of the file. */
                    filename?: string;
                    /** @description Id of the task to read files from. Can be an array. */
                    input: string | string[];
                    /** @description File extension without a dot. */
                    input_format?: components["schemas"]["PdfAInputFormat"];
                    /**
                     * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
                     * @default {}
                     */
                    options?: components["schemas"]["PdfAOptions"];
                    /** @description File extension without a dot. */
                    output_format?: components["schemas"]["PdfAOutputFormat"];
                };
            };
        };
        responses: {
            /** @description Make a PDF/A, and validate it */
            201: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Task"];
                };
            };
        };
    };
    "pdf-compare": {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeated request with the same key and body returns the same resource. */
                "Idempotency-Key"?: string;
                /** @description Such as `wait=25`: waits up to 25 seconds for the end, and returns the result (RFC 7240). */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Overrides the name of the file. */
                    filename?: string;
                    /** @description Id of the task to read files from. Can be an array. */
                    input: string | string[];
                    /** @description File extension without a dot. */
                    input_format?: components["schemas"]["PdfCompareInputFormat"];
                    /**
                     * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
                     * @default {}
                     */
                    options?: components["schemas"]["PdfCompareOptions"];
                    /** @description The document to compare with. The name or id of a task, or an array of them. */
                    original: string | string[];
                    /** @description File extension without a dot. */
                    output_format?: components["schemas"]["PdfCompareOutputFormat"];
                };
            };
        };
        responses: {
            /** @description Compare two PDFs */
            201: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Task"];
                };
            };
        };
    };
    "pdf-decrypt": {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeated request with the same key and body returns the same resource. */
                "Idempotency-Key"?: string;
                /** @description Such as `wait=25`: waits up to 25 seconds for the end, and returns the result (RFC 7240). */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Overrides the name of the file. */
                    filename?: string;
                    /** @description Id of the task to read files from. Can be an array. */
                    input: string | string[];
                    /** @description File extension without a dot. */
                    input_format?: components["schemas"]["PdfDecryptInputFormat"];
                    /**
                     * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
                     * @default {}
                     */
                    options?: components["schemas"]["PdfDecryptOptions"];
                    /** @description File extension without a dot. */
                    output_format?: components["schemas"]["PdfDecryptOutputFormat"];
                };
            };
        };
        responses: {
            /** @description Remove the password of a PDF */
            201: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Task"];
                };
            };
        };
    };
    "pdf-encrypt": {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeated request with the same key and body returns the same resource. */
                "Idempotency-Key"?: string;
                /** @description Such as `wait=25`: waits up to 25 seconds for the end, and returns the result (RFC 7240). */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Overrides the name of the file. */
                    filename?: string;
                    /** @description Id of the task to read files from. Can be an array. */
                    input: string | string[];
                    /** @description File extension without a dot. */
                    input_format?: components["schemas"]["PdfEncryptInputFormat"];
                    /**
                     * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
                     * @default {}
                     */
                    options?: components["schemas"]["PdfEncryptOptions"];
                    /** @description File extension without a dot. */
                    output_format?: components["schemas"]["PdfEncryptOutputFormat"];
                };
            };
        };
        responses: {
            /** @description Protect a PDF by passwords and permissions */
            201: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Task"];
                };
            };
        };
    };
    "pdf-extract": {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeated request with the same key and body returns the same resource. */
                "Idempotency-Key"?: string;
                /** @description Such as `wait=25`: waits up to 25 seconds for the end, and returns the result (RFC 7240). */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Overrides the name of the file. */
                    filename?: string;
                    /** @description Id of the task to read files from. Can be an array. */
                    input: string | string[];
                    /** @description File extension without a dot. */
                    input_format?: components["schemas"]["PdfExtractInputFormat"];
                    /**
                     * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
                     * @default {}
                     */
                    options?: components["schemas"]["PdfExtractOptions"];
                    /** @description File extension without a dot. */
                    output_format?: components["schemas"]["PdfExtractOutputFormat"];
                };
            };
        };
        responses: {
            /** @description Extract pages of a PDF */
            201: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Task"];
                };
            };
        };
    };
    "pdf-fill": {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeated request with the same key and body returns the same resource. */
                "Idempotency-Key"?: string;
                /** @description Such as `wait=25`: waits up to 25 seconds for the end, and returns the result (RFC 7240). */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Values of the fields, as JSON or CSV. Several records give several files. The name or id of a task, or an array of them. */
                    data?: string | string[];
                    /** @description Overrides the name of the file. */
                    filename?: string;
                    /** @description Id of the task to read files from. Can be an array. */
                    input: string | string[];
                    /** @description File extension without a dot. */
                    input_format?: components["schemas"]["PdfFillInputFormat"];
                    /**
                     * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
                     * @default {}
                     */
                    options?: components["schemas"]["PdfFillOptions"];
                    /** @description File extension without a dot. */
                    output_format?: components["schemas"]["PdfFillOutputFormat"];
                };
            };
        };
        responses: {
            /** @description Fill the form of a PDF */
            201: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Task"];
                };
            };
        };
    };
    "pdf-forms": {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeated request with the same key and body returns the same resource. */
                "Idempotency-Key"?: string;
                /** @description Such as `wait=25`: waits up to 25 seconds for the end, and returns the result (RFC 7240). */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Overrides the name of the file. */
                    filename?: string;
                    /** @description Id of the task to read files from. Can be an array. */
                    input: string | string[];
                    /** @description File extension without a dot. */
                    input_format?: components["schemas"]["PdfFormsInputFormat"];
                    /**
                     * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
                     * @default {}
                     */
                    options?: components["schemas"]["PdfFormsOptions"];
                    /** @description File extension without a dot. */
                    output_format?: components["schemas"]["PdfFormsOutputFormat"];
                };
            };
        };
        responses: {
            /** @description List the form fields of a PDF */
            201: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Task"];
                };
            };
        };
    };
    "pdf-ocr": {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeated request with the same key and body returns the same resource. */
                "Idempotency-Key"?: string;
                /** @description Such as `wait=25`: waits up to 25 seconds for the end, and returns the result (RFC 7240). */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Overrides the name of the file. */
                    filename?: string;
                    /** @description Id of the task to read files from. Can be an array. */
                    input: string | string[];
                    /** @description File extension without a dot. */
                    input_format?: components["schemas"]["PdfOcrInputFormat"];
                    /**
                     * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
                     * @default {}
                     */
                    options?: components["schemas"]["PdfOcrOptions"];
                    /** @description File extension without a dot. */
                    output_format?: components["schemas"]["PdfOcrOutputFormat"];
                };
            };
        };
        responses: {
            /** @description Make the text of scanned pages searchable */
            201: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Task"];
                };
            };
        };
    };
    "pdf-optimize": {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeated request with the same key and body returns the same resource. */
                "Idempotency-Key"?: string;
                /** @description Such as `wait=25`: waits up to 25 seconds for the end, and returns the result (RFC 7240). */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Overrides the name of the file. */
                    filename?: string;
                    /** @description Id of the task to read files from. Can be an array. */
                    input: string | string[];
                    /** @description File extension without a dot. */
                    input_format?: components["schemas"]["PdfOptimizeInputFormat"];
                    /**
                     * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
                     * @default {}
                     */
                    options?: components["schemas"]["PdfOptimizeOptions"];
                    /** @description File extension without a dot. */
                    output_format?: components["schemas"]["PdfOptimizeOutputFormat"];
                };
            };
        };
        responses: {
            /** @description Make a PDF smaller, and fast to open from the web */
            201: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Task"];
                };
            };
        };
    };
    "pdf-redact": {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeated request with the same key and body returns the same resource. */
                "Idempotency-Key"?: string;
                /** @description Such as `wait=25`: waits up to 25 seconds for the end, and returns the result (RFC 7240). */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Overrides the name of the file. */
                    filename?: string;
                    /** @description Id of the task to read files from. Can be an array. */
                    input: string | string[];
                    /** @description File extension without a dot. */
                    input_format?: components["schemas"]["PdfRedactInputFormat"];
                    /**
                     * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
                     * @default {}
                     */
                    options?: components["schemas"]["PdfRedactOptions"];
                    /** @description File extension without a dot. */
                    output_format?: components["schemas"]["PdfRedactOutputFormat"];
                };
            };
        };
        responses: {
            /** @description Remove texts or areas from a PDF */
            201: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Task"];
                };
            };
        };
    };
    "pdf-reorder": {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeated request with the same key and body returns the same resource. */
                "Idempotency-Key"?: string;
                /** @description Such as `wait=25`: waits up to 25 seconds for the end, and returns the result (RFC 7240). */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Overrides the name of the file. */
                    filename?: string;
                    /** @description Id of the task to read files from. Can be an array. */
                    input: string | string[];
                    /** @description File extension without a dot. */
                    input_format?: components["schemas"]["PdfReorderInputFormat"];
                    /**
                     * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
                     * @default {}
                     */
                    options?: components["schemas"]["PdfReorderOptions"];
                    /** @description File extension without a dot. */
                    output_format?: components["schemas"]["PdfReorderOutputFormat"];
                };
            };
        };
        responses: {
            /** @description Put the pages of a PDF into another order */
            201: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Task"];
                };
            };
        };
    };
    "pdf-rotate": {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeated request with the same key and body returns the same resource. */
                "Idempotency-Key"?: string;
                /** @description Such as `wait=25`: waits up to 25 seconds for the end, and returns the result (RFC 7240). */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Overrides the name of the file. */
                    filename?: string;
                    /** @description Id of the task to read files from. Can be an array. */
                    input: string | string[];
                    /** @description File extension without a dot. */
                    input_format?: components["schemas"]["PdfRotateInputFormat"];
                    /**
                     * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
                     * @default {}
                     */
                    options?: components["schemas"]["PdfRotateOptions"];
                    /** @description File extension without a dot. */
                    output_format?: components["schemas"]["PdfRotateOutputFormat"];
                };
            };
        };
        responses: {
            /** @description Rotate pages of a PDF */
            201: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Task"];
                };
            };
        };
    };
    "pdf-sign": {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeated request with the same key and body returns the same resource. */
                "Idempotency-Key"?: string;
                /** @description Such as `wait=25`: waits up to 25 seconds for the end, and returns the result (RFC 7240). */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Overrides the name of the file. */
                    filename?: string;
                    /** @description Id of the task to read files from. Can be an array. */
                    input: string | string[];
                    /** @description File extension without a dot. */
                    input_format?: components["schemas"]["PdfSignInputFormat"];
                    /**
                     * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
                     * @default {}
                     */
                    options?: components["schemas"]["PdfSignOptions"];
                    /** @description File extension without a dot. */
                    output_format?: components["schemas"]["PdfSignOutputFormat"];
                    /** @description The picture to draw. The name or id of a task, or an array of them. */
                    picture?: string | string[];
                };
            };
        };
        responses: {
            /** @description Sign a PDF */
            201: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Task"];
                };
            };
        };
    };
    "pdf-split": {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeated request with the same key and body returns the same resource. */
                "Idempotency-Key"?: string;
                /** @description Such as `wait=25`: waits up to 25 seconds for the end, and returns the result (RFC 7240). */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Overrides the name of the file. */
                    filename?: string;
                    /** @description Id of the task to read files from. Can be an array. */
                    input: string | string[];
                    /** @description File extension without a dot. */
                    input_format?: components["schemas"]["PdfSplitInputFormat"];
                    /**
                     * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
                     * @default {}
                     */
                    options?: components["schemas"]["PdfSplitOptions"];
                    /** @description File extension without a dot. */
                    output_format?: components["schemas"]["PdfSplitOutputFormat"];
                };
            };
        };
        responses: {
            /** @description Split a PDF into several */
            201: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Task"];
                };
            };
        };
    };
    "pdf-stamp": {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeated request with the same key and body returns the same resource. */
                "Idempotency-Key"?: string;
                /** @description Such as `wait=25`: waits up to 25 seconds for the end, and returns the result (RFC 7240). */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Overrides the name of the file. */
                    filename?: string;
                    /** @description Id of the task to read files from. Can be an array. */
                    input: string | string[];
                    /** @description File extension without a dot. */
                    input_format?: components["schemas"]["PdfStampInputFormat"];
                    /**
                     * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
                     * @default {}
                     */
                    options?: components["schemas"]["PdfStampOptions"];
                    /** @description File extension without a dot. */
                    output_format?: components["schemas"]["PdfStampOutputFormat"];
                    /** @description The picture to draw. The name or id of a task, or an array of them. */
                    picture?: string | string[];
                };
            };
        };
        responses: {
            /** @description Stamp page numbers, Bates numbers, dates or pictures on a PDF */
            201: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Task"];
                };
            };
        };
    };
    "pdf-ua": {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeated request with the same key and body returns the same resource. */
                "Idempotency-Key"?: string;
                /** @description Such as `wait=25`: waits up to 25 seconds for the end, and returns the result (RFC 7240). */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Overrides the name of the file. */
                    filename?: string;
                    /** @description Id of the task to read files from. Can be an array. */
                    input: string | string[];
                    /** @description File extension without a dot. */
                    input_format?: components["schemas"]["PdfUaInputFormat"];
                    /**
                     * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
                     * @default {}
                     */
                    options?: components["schemas"]["PdfUaOptions"];
                    /** @description File extension without a dot. */
                    output_format?: components["schemas"]["PdfUaOutputFormat"];
                };
            };
        };
        responses: {
            /** @description Make a tagged PDF, and validate it */
            201: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Task"];
                };
            };
        };
    };
    "pdf-verify": {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeated request with the same key and body returns the same resource. */
                "Idempotency-Key"?: string;
                /** @description Such as `wait=25`: waits up to 25 seconds for the end, and returns the result (RFC 7240). */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Overrides the name of the file. */
                    filename?: string;
                    /** @description Id of the task to read files from. Can be an array. */
                    input: string | string[];
                    /** @description File extension without a dot. */
                    input_format?: components["schemas"]["PdfVerifyInputFormat"];
                    /**
                     * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
                     * @default {}
                     */
                    options?: components["schemas"]["PdfVerifyOptions"];
                    /** @description File extension without a dot. */
                    output_format?: components["schemas"]["PdfVerifyOutputFormat"];
                    /** @description Certificates of the authorities that you trust, in PEM. The name or id of a task, or an array of them. */
                    trust?: string | string[];
                };
            };
        };
        responses: {
            /** @description Verify the signatures of a PDF */
            201: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Task"];
                };
            };
        };
    };
    "pdf-watermark": {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeated request with the same key and body returns the same resource. */
                "Idempotency-Key"?: string;
                /** @description Such as `wait=25`: waits up to 25 seconds for the end, and returns the result (RFC 7240). */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Overrides the name of the file. */
                    filename?: string;
                    /** @description Id of the task to read files from. Can be an array. */
                    input: string | string[];
                    /** @description File extension without a dot. */
                    input_format?: components["schemas"]["PdfWatermarkInputFormat"];
                    /**
                     * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
                     * @default {}
                     */
                    options?: components["schemas"]["PdfWatermarkOptions"];
                    /** @description File extension without a dot. */
                    output_format?: components["schemas"]["PdfWatermarkOutputFormat"];
                    /** @description The picture to draw. The name or id of a task, or an array of them. */
                    picture?: string | string[];
                };
            };
        };
        responses: {
            /** @description Put a text or picture across the pages of a PDF */
            201: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Task"];
                };
            };
        };
    };
    "list-tasks": {
        parameters: {
            query?: {
                /** @description Fields to add to the response, comma-separated: payload, job. */
                include?: string;
                job?: string;
                operation?: string;
                /** @description Page number. Defaults to 1. */
                page?: number;
                /** @description Page size. Defaults to 50. */
                per_page?: number;
                status?: "created" | "processing" | "completed" | "canceled" | "failed" | "deleted";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List tasks, newest first */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskPage"];
                };
            };
        };
    };
    "show-task": {
        parameters: {
            query?: {
                /** @description Fields to add to the response, comma-separated: payload, job. */
                include?: string;
            };
            header?: never;
            path: {
                taskId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Show a task */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Task"];
                };
            };
        };
    };
    "delete-task": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                taskId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "cancel-task": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                taskId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Cancel a task that has not ended */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Task"];
                };
            };
        };
    };
    "wait-for-task": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                taskId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Wait up to 25 seconds for a task to end, and show it */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Task"];
                };
            };
        };
    };
    trim: {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeated request with the same key and body returns the same resource. */
                "Idempotency-Key"?: string;
                /** @description Such as `wait=25`: waits up to 25 seconds for the end, and returns the result (RFC 7240). */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Overrides the name of the file. */
                    filename?: string;
                    /** @description Id of the task to read files from. Can be an array. */
                    input: string | string[];
                    /** @description File extension without a dot. */
                    input_format?: components["schemas"]["TrimInputFormat"];
                    /**
                     * @description Options of the operation, as listed by the options query; at most 32768 bytes of JSON.
                     * @default {}
                     */
                    options?: components["schemas"]["TrimOptions"];
                    /** @description File extension without a dot. */
                    output_format?: components["schemas"]["TrimOutputFormat"];
                };
            };
        };
        responses: {
            /** @description Trim audio or video */
            201: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Task"];
                };
            };
        };
    };
    "query-all-formats": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List all supported formats */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FormatList"];
                };
            };
        };
    };
    "query-formats": {
        parameters: {
            query?: {
                /** @description Input format. Lists the output formats available for it; * lists all. */
                input_format?: string;
                /** @description Output format. Lists the input formats available for it; * lists all. */
                output_format?: string;
            };
            header?: never;
            path: {
                /** @description convert, compress, merge, crop, trim, pdf/split, pdf/extract, pdf/rotate, pdf/reorder, pdf/watermark, pdf/stamp, pdf/encrypt, pdf/decrypt, pdf/optimize, pdf/ocr, pdf/a, pdf/ua, pdf/forms, pdf/fill, pdf/sign, pdf/verify, pdf/redact, pdf/compare, invoice/embed, invoice/extract. */
                operation: "convert" | "compress" | "merge" | "crop" | "trim" | "pdf/split" | "pdf/extract" | "pdf/rotate" | "pdf/reorder" | "pdf/watermark" | "pdf/stamp" | "pdf/encrypt" | "pdf/decrypt" | "pdf/optimize" | "pdf/ocr" | "pdf/a" | "pdf/ua" | "pdf/forms" | "pdf/fill" | "pdf/sign" | "pdf/verify" | "pdf/redact" | "pdf/compare" | "invoice/embed" | "invoice/extract";
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List the formats that an operation reads or writes */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FormatList"];
                };
            };
        };
    };
    "query-options": {
        parameters: {
            query?: {
                input_format?: components["schemas"]["Format"];
                output_format?: components["schemas"]["Format"];
            };
            header?: never;
            path: {
                /** @description convert, compress, merge, crop, trim, pdf/split, pdf/extract, pdf/rotate, pdf/reorder, pdf/watermark, pdf/stamp, pdf/encrypt, pdf/decrypt, pdf/optimize, pdf/ocr, pdf/a, pdf/ua, pdf/forms, pdf/fill, pdf/sign, pdf/verify, pdf/redact, pdf/compare, invoice/embed, invoice/extract. */
                operation: "convert" | "compress" | "merge" | "crop" | "trim" | "pdf/split" | "pdf/extract" | "pdf/rotate" | "pdf/reorder" | "pdf/watermark" | "pdf/stamp" | "pdf/encrypt" | "pdf/decrypt" | "pdf/optimize" | "pdf/ocr" | "pdf/a" | "pdf/ua" | "pdf/forms" | "pdf/fill" | "pdf/sign" | "pdf/verify" | "pdf/redact" | "pdf/compare" | "invoice/embed" | "invoice/extract";
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List the options of an operation for a pair of formats */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OptionList"];
                };
            };
        };
    };
    "start-upload": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                taskId: string;
                token: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    filename: string;
                    /** @description Ignored. */
                    metadata?: {
                        [key: string]: unknown;
                    };
                    /** @description When the file was last modified, in milliseconds. */
                    modified?: number;
                    /** @description Size of the file in bytes. The response then has the size of the parts, and an upload of the task with the same filename, size and modified is resumed. */
                    size?: number;
                    /** @description Ignored: formats are detected from the content. */
                    type?: string;
                };
            };
        };
        responses: {
            /** @description Start or resume the upload of a file in parts */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StartedUpload"];
                };
            };
        };
    };
    "list-upload-parts": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                taskId: string;
                token: string;
                uploadId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List the parts that are stored */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UploadPartList"];
                };
            };
        };
    };
    "abort-upload": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                taskId: string;
                token: string;
                uploadId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Abort an upload and delete its parts */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AbortedUpload"];
                };
            };
        };
    };
    "sign-upload-part": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                partNumber: number;
                taskId: string;
                token: string;
                uploadId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Get the URL to which a part is sent with PUT */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SignedPart"];
                };
            };
        };
    };
    "complete-upload": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                taskId: string;
                token: string;
                uploadId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    parts: {
                        ETag: string;
                        PartNumber: number;
                    }[];
                };
            };
        };
        responses: {
            /** @description Complete an upload with the parts in the request */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CompletedUpload"];
                };
            };
        };
    };
    "upload-form": {
        parameters: {
            query: {
                filename: string;
                type?: string;
            };
            header?: never;
            path: {
                taskId: string;
                token: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Get the form for a file that is uploaded in one request */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UploadParameters"];
                };
            };
        };
    };
}
