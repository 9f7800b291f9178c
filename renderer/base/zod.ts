import { z } from 'zod';

// Without this, zod tests for `eval` when the first schema is created, which the page's security policy reports.
z.config({ jitless: true });
